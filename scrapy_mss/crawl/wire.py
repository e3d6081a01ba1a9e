"""The protocol of the sockets between the crawl and its workers.

A message is its length in four bytes, then that many bytes. The first one has a model and its
counts, each of the others a page with the requested work and what the model has learned meanwhile;
each page gets one response. Messages are packed documents: JSON, preceded by its length, and
followed by the bytes in it, such as texts and arrays. Parsing megabytes of JSON would block the
event loop with the interpreter's lock. Lone surrogates, which pages can contain, survive.
"""

from __future__ import annotations

import json
import struct
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import lru_cache
from threading import Lock
from typing import IO, Any, Final

import numpy as np

from scrapy_mss.article import ArticleResult
from scrapy_mss.core.labels import Rejection
from scrapy_mss.core.naive_bayes import Observation
from scrapy_mss.items import OPTIONAL_FIELDS, Article, values_of
from scrapy_mss.models.model import Example, Model
from scrapy_mss.sites.context import SiteContext, SiteUpdate
from scrapy_mss.sites.store import packed as packed_memory
from scrapy_mss.sites.store import unpacked as unpacked_memory
from scrapy_mss.wrappers import Reason, Wrapper
from scrapy_mss.wrappers.schema import document_of, read_document

LENGTH = struct.Struct("<I")
# Why a page has no answer.
ERROR = "error"  # an exception, whose traceback is logged
TIMEOUT = "timeout"  # it took longer than MSS_TIMEOUT, and its worker was killed
MEMORY = "memory"  # it took more memory than a worker may, which its worker did not survive
CRASH = "crash"  # its worker was lost in another way
FAILURES = (ERROR, TIMEOUT, MEMORY, CRASH)

OUT_OF_MEMORY = 12  # the exit code of a worker that a page took too much memory in: that of ENOMEM
READY = b""  # the first message of a worker: pages are answered from now on
CACHED = 256  # wrappers that are kept in both forms; a crawl is at a few sites at a time
_PART = "\0part"  # in a packed document the key of the size of bytes; nothing else has such a key
_TEXTS = ("text", "html", *OPTIONAL_FIELDS)  # of an article, as large as its page may be
NOTHING: Final = -1  # the generation of a copy without any counts
EMPTY: Final = b""  # the change that a copy which misses too much begins with
MAX_BYTES: Final = 2**23  # of changes that are kept; the counts of the bundled model take 6 MB
# Values of requests and answers that are JSON or bytes.
_ASKED = ("url", "example", "article", "further", "emitted")
_PLAIN = ("failure", "seconds", "logged", "needs_restart")


def packed(document: object) -> bytes:
    """A *document* of JSON and bytes as `unpacked` reads it."""
    parts = []

    def aside(value: object) -> dict[str, int]:
        if not isinstance(value, bytes):
            raise TypeError(f"neither JSON nor bytes: {type(value).__name__}")
        parts.append(value)
        return {_PART: len(value)}

    text = json.dumps(document, default=aside).encode()
    return b"".join((LENGTH.pack(len(text)), text, *parts))


def unpacked(data: bytes) -> Any:  # noqa: ANN401 - what JSON can be
    """The document that was packed, with copies of its bytes."""
    (length,) = LENGTH.unpack_from(data)
    at = LENGTH.size + length

    def part(found: dict[str, Any]) -> dict[str, Any] | bytes:
        nonlocal at
        if _PART not in found:
            return found
        start, at = at, at + found[_PART]
        return data[start:at]

    return json.loads(data[LENGTH.size : at], object_hook=part)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A page, and what is asked of it.

    With a *wrapper* the page is labelled: for a training example, for the article, or for both. An
    article that it misses is read like that of a page without one, unless it drops its misses:
    with what is known of the page's *site*, if sites are remembered. A *further* page is one of an
    article that another page begins. With *emitted*, the paragraphs of the page are answered; it
    has those with which its article was emitted before, if it was.
    """

    html: str
    url: str
    wrapper: Wrapper | None = None
    example: bool = False
    article: bool = True
    further: bool = False
    site: SiteContext | None = None
    emitted: bytes | None = None

    def to_bytes(self) -> bytes:
        """The request as `from_bytes` reads it."""
        document = {name: getattr(self, name) for name in _ASKED}
        document["html"] = _encoded(self.html)
        if self.wrapper is not None:
            document["wrapper"] = _wrapper_text(self.wrapper)
        if self.site is not None:
            document["site"] = packed_memory(self.site.memory), self.site.minute
        return packed(document)

    @classmethod
    def from_bytes(cls, data: bytes) -> PageRequest:
        """The request in *data*."""
        asked = unpacked(data)
        asked["html"] = _decoded(asked["html"])
        if "wrapper" in asked:
            asked["wrapper"] = _wrapper(asked["wrapper"])
        if "site" in asked:
            memory, minute = asked["site"]
            asked["site"] = SiteContext(unpacked_memory(memory), minute, asked["url"])
        return cls(**asked)


@dataclass(frozen=True, slots=True)
class LabelSummary:
    """What the crawl counts of a labelling; *reason* is why nothing is labelled.

    *selectors* are those of the rule, each with whether it selected what was taken.
    """

    reason: Reason | None
    field_hits: Mapping[str, bool]
    n_tokens: int
    selectors: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """The answer to a `PageRequest`: what it asks for, or one of the `FAILURES`.

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

    def to_bytes(self) -> bytes:
        """The answer as `from_bytes` reads it."""
        document: dict[str, Any] = {name: getattr(self, name) for name in _PLAIN}
        if self.article is not None:
            document["article"] = _result_document(self.article)
        if self.labels is not None:
            reason = self.labels.reason.value if self.labels.reason else None
            values = self.labels.field_hits, self.labels.n_tokens, self.labels.selectors
            document["labels"] = reason, *values
        if isinstance(self.example, Rejection):
            document["rejection"] = self.example.value
        elif self.example is not None:
            document["example"] = self.example.key, observation_document(self.example.observation)
        if self.update is not None:
            document["update"] = packed_memory(self.update.added), self.update.place
        return packed(document)

    @classmethod
    def from_bytes(cls, data: bytes) -> PageAnswer:
        """The answer in *data*."""
        answer = unpacked(data)
        answer["logged"] = tuple((level, message) for level, message in answer["logged"])
        if "article" in answer:
            answer["article"] = _result(answer["article"])
        if "labels" in answer:
            reason, hits, n_tokens, selectors = answer["labels"]
            selected = tuple((text, hit) for text, hit in selectors)
            answer["labels"] = LabelSummary(reason and Reason(reason), hits, n_tokens, selected)
        if "rejection" in answer:
            answer["example"] = Rejection(answer.pop("rejection"))
        elif "example" in answer:
            key, observation = answer["example"]
            answer["example"] = Example(key, observation_of(observation))
        if "update" in answer:
            memory, place = answer["update"]
            answer["update"] = SiteUpdate(unpacked_memory(memory), place)
        return cls(**answer)


def send(stream: IO[bytes], data: bytes) -> None:
    """Write *data* as a message."""
    stream.write(LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes:
    """The next message of *stream*; EOFError where there is none."""
    (length,) = LENGTH.unpack(_exactly(stream, LENGTH.size))
    return _exactly(stream, length)


def _exactly(stream: IO[bytes], length: int) -> bytes:
    data = stream.read(length)
    if len(data) != length:
        raise EOFError(f"{len(data)} of {length} bytes")
    return data


def observation_document(seen: Observation) -> dict[str, Any]:
    """What was *seen* as `observation_of` reads it: int32[n] buckets and uint32[n, 2] counts."""
    counts = {
        name: (bucket.astype("<i4").tobytes(), counts.astype("<u4").tobytes())
        for name, (bucket, counts) in seen.counts.items()
    }
    return {
        "counts": counts,
        "tokens": seen.tokens.tolist(),
        "digest": seen.digest,
        "pages": seen.pages,
    }


def observation_of(document: dict[str, Any]) -> Observation:
    """The observation in a *document*."""
    counts = {
        name: (np.frombuffer(bucket, "<i4"), np.frombuffer(counts, "<u4").reshape(-1, 2))
        for name, (bucket, counts) in document["counts"].items()
    }
    tokens = np.array(document["tokens"], np.int64)
    return Observation(counts, tokens, document["digest"], document["pages"])


class ModelChanges:
    """The changes of *model*, which one thread makes, for copies of it in other processes.

    A worker begins with all counts. After that, whatever was learned since it was last sent a page
    is sent with its next one, so that a page is always read by a whole state of the model, and a
    copy has the name of the state that it is in. A page adds some tens of kilobytes; a worker that
    has missed more than all counts together take is sent these again.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._lock = Lock()
        self._changes: deque[bytes] = deque()  # the latest, one a generation
        self._generation = 0

    @contextmanager
    def changing(self, by: Observation | None = None) -> Iterator[None]:
        """Hold while the model changes *by* what is added, or by anything."""
        with self._lock:
            self._generation += 1
            changes, self._changes = self._changes, deque()  # what fails has changed anything
            yield
            if by is not None:
                self._changes = changes
                self._keep(packed(observation_document(by)))

    def since(self, generation: int) -> tuple[list[bytes], int]:
        """The changes that a copy of that *generation* lacks, and which generation is now."""
        with self._lock:
            missed = self._generation - generation
            if generation != NOTHING and missed <= len(self._changes):
                return [*self._changes][len(self._changes) - missed :], self._generation
            bayes, now = self._model.bayes, self._generation
            tables = {name: counts.copy() for name, counts in bayes.counts.items()}
            totals = bayes.tokens.copy(), bayes.digest, bayes.pages
        filled = {
            name: np.flatnonzero(table.any(axis=1)).astype(np.int32)
            for name, table in tables.items()
        }
        counts = {name: (rows, tables[name][rows]) for name, rows in filled.items()}
        whole = Observation(counts, *totals)
        return [EMPTY, packed(observation_document(whole))], now

    def _keep(self, change: bytes) -> None:
        self._changes.append(change)
        n_bytes = sum(map(len, self._changes))
        while n_bytes > MAX_BYTES:
            n_bytes -= len(self._changes.popleft())


def follow(model: Model, changes: Iterable[bytes]) -> None:
    """Make the counts of a copy what they are after the *changes*."""
    for change in changes:
        if change == EMPTY:
            model.bayes.copy_from(Model(model.profile).bayes)
        else:
            model.bayes.add(observation_of(unpacked(change)))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(part: bytes) -> str:
    return part.decode("utf-8", "surrogatepass")


@lru_cache(CACHED)
def _wrapper_text(wrapper: Wrapper) -> str:
    return json.dumps(document_of(wrapper))


@lru_cache(CACHED)
def _wrapper(text: str) -> Wrapper:
    (wrapper,) = read_document(json.loads(text), "a wrapper of the crawl")
    return wrapper


def _result_document(result: ArticleResult) -> dict[str, Any]:
    document = {each.name: getattr(result, each.name) for each in fields(ArticleResult)}
    if result.article is not None:
        values = values_of(result.article)
        texts = {name: _encoded(values[name]) for name in _TEXTS if values[name] is not None}
        document["article"] = values | texts
    return document


def _result(document: dict[str, Any]) -> ArticleResult:
    values = document["article"]
    if values is not None:
        texts = {name: _decoded(values[name]) for name in _TEXTS if values[name] is not None}
        document["article"] = Article(**values | texts)
    return ArticleResult(**document)
