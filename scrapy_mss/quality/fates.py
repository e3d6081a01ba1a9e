"""What became of the addresses that a crawl found announced: one fate each, the rows of a table.

Feeds, sitemaps, front and section pages announce articles. In a crawl, each announced address ends
as one row, whose first part says if the address came out as an article. Stats, the report and the
documentation follow from the rows.

The *signs* of a row are what tells it: the reason why a page has no article, the status of a
response, or a part of the names of an exception's classes, as those of Twisted, of Scrapy and of
its download handlers have no more in common. The `Coverage` of a site adds up its fates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from scrapy_mss.pages.kinds import ARTICLE_KINDS, CHALLENGE, KINDS
from scrapy_mss.quality.counts import ASKED, FATE, OUT, Counts
from scrapy_mss.quality.store import Losses

ARTICLE, OTHER, FAILED, DROPPED = "article", "other", "failed", "dropped"


@dataclass(frozen=True, slots=True)
class Fate:
    """One row. An address is *lost* if its article may exist and has not come out."""

    name: str
    summary: str
    signs: tuple[str, ...] = ()
    lost: bool = True

    @property
    def group(self) -> str:
        return self.name.partition("/")[0]

    @property
    def is_loss(self) -> bool:
        """Whether the crawl has asked for the address, and has got no article."""
        return self.lost and self.group in (OTHER, FAILED)

    @property
    def is_final(self) -> bool:
        """Whether the crawl has asked for the address, and knows what it is."""
        return self.group in (ARTICLE, OTHER, FAILED)

    def replaces(self, known: Fate) -> bool:
        """Whether an address has this fate that had the one *known*: an article stays one."""
        if known is NOT_YET:
            return self is not NOT_YET
        if known.group == DROPPED:
            return self.is_final or self is NOT_YET
        return self.is_final and known.group != ARTICLE

    @property
    def counts(self) -> Counts:
        is_out = self.group == ARTICLE
        is_asked = is_out or self.is_loss
        return Counter({f"{FATE}{self.name}": 1, ASKED: int(is_asked), OUT: int(is_out)})


FATES: Final = (
    NEW := Fate("article/new", "no crawl has seen it", lost=False),
    CHANGED := Fate("article/changed", "it has changed since an earlier crawl", lost=False),
    UNCHANGED := Fate("article/unchanged", "it was read again and is the same", lost=False),
    COPY := Fate("article/copy", "another paper has printed its text", lost=False),
    FED := Fate("article/feed", "the feed has its text, and the page cannot be had", lost=False),
    *(
        Fate(f"{OTHER}/{kind}", f"the page is of the kind `{kind}`", (kind,))
        for kind in KINDS
        if kind not in (*ARTICLE_KINDS, CHALLENGE)
    ),
    NOT_HTML := Fate("other/not_html", "the response is no HTML, as a PDF"),
    Fate("other/rule", "the wrapper of the site finds nothing", ("wrapper_miss",)),
    Fate("other/language", "it is in none of `MSS_LANGUAGES`", ("other_language",), lost=False),
    Fate("other/reserved", "`MSS_EMIT` leaves reserved pages out", ("reserved",), lost=False),
    Fate("failed/gone", "HTTP 404 or 410", ("404", "410")),
    Fate("failed/forbidden", "HTTP 401, 403, 429 or 451", ("401", "403", "429", "451")),
    SERVER := Fate("failed/server", "HTTP 500 and above"),
    STATUS := Fate("failed/status", "any other HTTP status but 200"),
    Fate("failed/challenge", "a bot challenge", (CHALLENGE,)),
    ROBOTS := Fate("failed/robots", "forbidden by robots.txt"),
    OFF_SITE := Fate("failed/off_site", "redirected to another site, and no article there"),
    REDIRECTS := Fate("failed/redirects", "redirected too often"),
    TOO_LARGE := Fate("failed/too_large", "larger than a limit", ("too_large", "Cancelled")),
    Fate("failed/timeout", "timeout", ("Timeout",)),
    Fate("failed/dns", "DNS: host not found", ("DNS", "CannotResolveHost", "gaierror")),
    Fate("failed/refused", "connection refused", ("Refused",)),
    Fate("failed/tls", "TLS", ("SSL",)),
    Fate("failed/private", "refused: its host is not public, see the log", ("PrivateHost",)),
    CONNECTION := Fate("failed/connection", "no response for another reason"),
    ERROR := Fate("failed/error", "an exception, or a page given up, see the log"),
    AGE := Fate("dropped/age", "its list dates it more than a week back", lost=False),
    NOT_DUE := Fate("dropped/not_due", "an earlier crawl read it, no recheck is due", lost=False),
    DUPLICATE := Fate(
        "dropped/duplicate", "another address of what was requested", ("further_page",), lost=False
    ),
    LIMIT := Fate("dropped/limit", "beyond the `limit` of its site"),
    IGNORED := Fate("dropped/ignored", "another component has dropped its request or item"),
    NOT_YET := Fate("not_yet", "the crawl ended before"),
)
BY_NAME: Final = {fate.name: fate for fate in FATES}
_BY_SIGN: Final = {sign: fate for fate in FATES for sign in fate.signs}
_OTHER: Final = BY_NAME["other/other"]
SERVER_ERROR: Final = 500


def of_page(kind: str, reason: str) -> Fate:
    """The fate of a page of a *kind* that has no article for a *reason*."""
    return _BY_SIGN.get(kind) or _BY_SIGN.get(reason, _OTHER)


def of_status(status: int) -> Fate:
    """The fate of what was answered with an HTTP *status* but 200."""
    return _BY_SIGN.get(str(status), SERVER if status >= SERVER_ERROR else STATUS)


def of_exception(error: Exception) -> Fate:
    """The fate of a request that ended with an *error* of its download."""
    names = " ".join(each.__name__ for each in type(error).__mro__)
    failures = ((sign, fate) for sign, fate in _BY_SIGN.items() if fate.group == FAILED)
    return next((fate for sign, fate in failures if sign in names), CONNECTION)


@dataclass(frozen=True, slots=True)
class Coverage:
    """The fates of a site's addresses, and examples of those that are lost."""

    fates: Mapping[Fate, int]
    losses: Losses = field(default_factory=Losses)

    @classmethod
    def of(cls, counts: Counts, losses: Losses) -> Coverage:
        counted = ((fate, counts[f"{FATE}{fate.name}"]) for fate in FATES)
        return cls({fate: number for fate, number in counted if number > 0}, losses)

    @property
    def announced(self) -> int:
        return sum(self.fates.values())

    @property
    def due(self) -> int:
        """Those that a crawl was to bring."""
        return self.articles + sum(number for _, number in self.lost)

    @property
    def requested(self) -> int:
        return sum(number for fate, number in self.fates.items() if fate.is_final)

    @property
    def articles(self) -> int:
        return sum(number for fate, number in self.fates.items() if fate.group == ARTICLE)

    @property
    def lost(self) -> Sequence[tuple[Fate, int]]:
        """The causes of loss, the most frequent first."""
        lost = [(fate, number) for fate, number in self.fates.items() if fate.lost]
        return sorted(lost, key=lambda each: -each[1])

    def examples(self, fate: Fate) -> list[str]:
        """The latest addresses with this *fate*, the latest first."""
        return [*reversed(self.losses.examples.get(fate.name, {}))]

    def as_json(self) -> dict[str, Any]:
        return {
            "announced": self.announced,
            "due": self.due,
            "requested": self.requested,
            "articles": self.articles,
            "fates": {fate.name: number for fate, number in self.fates.items()},
            "losses": [
                {"fate": fate.name, "count": number, "examples": self.examples(fate)}
                for fate, number in self.lost
            ],
        }
