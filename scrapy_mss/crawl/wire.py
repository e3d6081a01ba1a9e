"""What the crawl and its workers send each other: requests, answers, and changes of the model.

The first message to a worker has a model and its counts, each of the others a page with the
requested work and what the model has learned meanwhile; each page gets one response.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Final, NamedTuple

from scrapy_mss.article import ArticleResult
from scrapy_mss.blocks.families import new_counts
from scrapy_mss.blocks.fed_text import FedText
from scrapy_mss.blocks.lessons import Lessons
from scrapy_mss.core.labels import Rejection
from scrapy_mss.core.naive_bayes import Observation
from scrapy_mss.crawl.processes import FORMS, packed, unpacked
from scrapy_mss.items import WRAPPER
from scrapy_mss.models.model import Example, Model
from scrapy_mss.sites import store
from scrapy_mss.sites.context import SiteContext, SiteUpdate
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.wrappers import Reason, Wrapper
from scrapy_mss.wrappers.schema import document_of, read_document

CACHED = 256  # wrappers that are kept in both forms; a crawl is at a few sites at a time
NOTHING: Final = -1  # the generation of a copy without any counts
EMPTY: Final = b""  # the change that a copy which misses too much begins with
# Of changes that are kept, some forty pages: a worker is sent what it lacks with each page.
MAX_BYTES: Final = 2**20


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A page, and what is asked of it.

    With a *wrapper* the page is labelled: for a training example, for the article, or for both. An
    article that it misses is read like that of a page without one, unless it drops its misses:
    with what is known of the page's *site*, if sites are remembered. A *further* page is one of an
    article that another page begins. With *emitted*, the paragraphs of the page are answered; it
    has those with which its article was emitted before, if it was.

    The example of a page without a wrapper is labelled by the *text* that its feed has, if there is
    one and both agree; of a page without HTML, that is the article. *requested* is the address that
    was asked for, if the page's is another.
    """

    html: str
    url: str
    wrapper: Wrapper | None = None
    example: bool = False
    article: bool = True
    further: bool = False
    site: SiteContext | None = None
    emitted: bytes | None = None
    text: FedText | None = None
    requested: str = ""


@dataclass(frozen=True, slots=True)
class LabelSummary:
    """What the crawl counts of a labelling; *reason* is why nothing is labelled.

    *source* is what labels the page.
    """

    reason: Reason | None
    field_hits: Mapping[str, bool]
    n_tokens: int
    source: str = WRAPPER


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """The answer to a `PageRequest`: what it asks for, or one of `processes.FAILURES`.

    *seconds* went into the labels and the example; those of the article are in its result.
    *logged* is what a worker has to say meanwhile, levels and messages; one that *needs_restart*
    keeps so much memory after the page that it is to be replaced. The *update* is for the memory
    of the page's site.
    """

    article: ArticleResult | None = None
    labels: LabelSummary | None = None
    example: Example | Rejection | None = None
    failure: str = ""
    seconds: float = 0.0
    logged: tuple[tuple[int, str], ...] = ()
    needs_restart: bool = False
    update: SiteUpdate | None = None


class ModelChange(NamedTuple):
    """What a model learns: of one page, or all at once."""

    observation: Observation
    lessons: Lessons


class ModelChanges:
    """The changes of *model*, which one thread makes, for copies of it in other processes.

    A worker begins with all counts. After that, whatever was learned since it was last sent a page
    is sent with its next one, so that a page is always read by a whole state of the model, and a
    copy has the name of the state that it is in. A page adds some tens of kilobytes; a worker that
    has missed more than is kept of the changes is sent all counts again.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._is_followed = False  # whether there is a copy
        self._lock = Lock()
        self._changes: deque[bytes] = deque()  # the latest, one a generation
        self._generation = 0

    @contextmanager
    def changing(self, by: Example | None = None) -> Iterator[None]:
        """Hold while the model changes *by* what is added, or by anything."""
        with self._lock:
            self._generation += 1
            changes, self._changes = self._changes, deque()  # what fails has changed anything
            yield
            if by is not None and self._is_followed:
                changes.append(packed(ModelChange(by.observation, by.lessons)))
                n_bytes = sum(map(len, changes))
                while n_bytes > MAX_BYTES:
                    n_bytes -= len(changes.popleft())
                self._changes = changes

    def since(self, generation: int) -> tuple[list[bytes], int]:
        """The changes that a copy of that *generation* lacks, and which generation is now."""
        with self._lock:
            self._is_followed = True
            missed = self._generation - generation
            if generation != NOTHING and missed <= len(self._changes):
                return [*self._changes][len(self._changes) - missed :], self._generation
            learned, now = self.model.learned, self._generation
            whole = ModelChange(learned.bayes.total(), Lessons.total([learned.lessons]))
        return [EMPTY, packed(whole)], now


def follow(model: Model, changes: Iterable[bytes]) -> None:
    """Make the counts of a copy what they are after the *changes*."""
    learned = model.learned
    for change in changes:
        if change == EMPTY:
            learned.bayes = new_counts(learned.profile.families)
            learned.lessons = Lessons()
        else:
            by = unpacked(change, ModelChange)
            learned.bayes.add(by.observation)
            learned.lessons.add(by.lessons)


@lru_cache(CACHED)
def _wrapper_bytes(wrapper: Wrapper) -> bytes:
    return json.dumps(document_of(wrapper)).encode()


@lru_cache(CACHED)
def _wrapper(data: bytes) -> Wrapper:
    (wrapper,) = read_document(json.loads(data), "a wrapper of the crawl")
    return wrapper


# These take a tenth of the time that their many fields do.
FORMS[Wrapper] = _wrapper_bytes, _wrapper
FORMS[SiteMemory] = store.packed, store.unpacked
