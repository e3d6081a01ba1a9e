"""What rules make of the pages that they were written for, as checks compare it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass

from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Tokens
from scrapy_mss.wrappers.labeller import Labelling
from scrapy_mss.wrappers.rules import Wrapper

NO_PAGE = "no page"
LABELLED = "labelled"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one wrapper made of one of its test pages."""

    wrapper: str
    url: str
    status: str
    words: int = 0
    missing: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()  # fields of the wrapper whose selectors select nothing

    @property
    def good(self) -> bool:
        """Whether it is as it should be; a page may have nothing to exclude."""
        return self.status == LABELLED and not self.missing and not {*self.missed} - {"exclude"}

    @property
    def key(self) -> tuple[str, str]:
        return self.wrapper, self.url

    @property
    def compared(self) -> tuple[str, int, tuple[str, ...]]:
        """What a snapshot is compared by."""
        return self.status, self.words, self.missed


def checked(
    wrappers: Iterable[Wrapper],
    url: str,
    html: str,
    read: Callable[[Wrapper, Tokens, str], Labelling],
) -> Iterator[Outcome]:
    """What each of the *wrappers* that has *url* among its test pages makes of the page.

    *read* labels a page by a wrapper, its tokens and its address, by which a model judges it where
    the wrapper leaves the text to one.
    """
    tokens = tokenize(html)
    for wrapper in wrappers:
        for example in wrapper.tests:
            if example.url == url:
                found = read(wrapper, tokens, url)
                status = found.reason.value if found.reason else LABELLED
                words = int((found.inside & tokens.is_word).sum())
                missing = tuple(part for part in example.contains if part not in found.text)
                missed = tuple(name for name, hit in found.field_hits.items() if not hit)
                yield Outcome(wrapper.id, url, status, words, missing, missed)


def snapshot(rows: Iterable[Outcome]) -> bytes:
    """*rows* as the file that the next check is compared with."""
    return f"{json.dumps([asdict(row) for row in rows], indent=1)}\n".encode()
