"""The log messages at the end of a crawl: what was learned and found, which rules seem outdated.

A rule seems outdated if it labelled no page of its site, or if none of its selectors for a field
matched on the pages that it labelled. A line names at most ten sites; the stats have the first
hundred.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scrapy_mss import stats
from scrapy_mss.quality.alarms import Figure
from scrapy_mss.quality.report import Alarm
from scrapy_mss.stats import CrawlStats
from scrapy_mss.wrappers import Wrapper

MAX_SITES = 10  # in a line; a crawl with hundreds of rules may have many
# A page may have nothing to exclude; it has these, or the rule need not ask for them.
FIELDS = ("title", "authors", "published")


def summary(numbers: CrawlStats, wrappers: Iterable[Wrapper], model: str) -> str:
    """The lines for a crawl with these *numbers* and *wrappers*, whose model is called *model*."""
    sites = sorted({wrapper.site for wrapper in wrappers})
    labelled = [site for site in sites if numbers.get(stats.WRAPPER_HIT, site=site)]
    missed = [site for site in sites if numbers.get(stats.WRAPPER_MISS, site=site)]
    articles, pages = numbers.get(stats.EXTRACT_ARTICLES), numbers.get(stats.EXTRACT_PAGES)
    learned, seen = numbers.get(stats.TRAIN_LEARNED), numbers.get(stats.TRAIN_SEEN)
    mean = numbers.get(stats.EXTRACT_PROBABILITY) / articles if articles else 0.0
    of_sites = f"{learned:.0f} of {seen:.0f} pages of {len(labelled)} wrapped sites"
    lines = [
        f"learned {of_sites} (model {model})",
        f"{articles:.0f} articles in {pages:.0f} pages, mean probability {mean:.2f}",
        *_to_check("wrappers that matched no page of their site", set(missed) - set(labelled)),
        *_to_check("wrappers whose fields were on no page", _with_fields(numbers, labelled)),
    ]
    return "\n".join(f"scrapy-mss: {line}" for line in lines)


def alarm_lines(alarms: Sequence[Alarm]) -> Iterator[str]:
    """A line for each of so many *alarms*, and one for the others."""
    for alarm in alarms[:MAX_SITES]:
        yield f"quality has declined on {alarm}" if isinstance(alarm, Figure) else str(alarm)
    more = len(alarms) - MAX_SITES
    if more > 0:
        yield f"{more} more alarms; see `scrapy mss report`"


def _with_fields(numbers: CrawlStats, sites: Iterable[str]) -> list[str]:
    """Of *sites* those with fields that were never found, each with their names."""
    fields = {site: _never_found(numbers, site) for site in sites}
    return [f"{site} ({', '.join(names)})" for site, names in fields.items() if names]


def _never_found(numbers: CrawlStats, site: str) -> list[str]:
    return [
        name
        for name in FIELDS
        if numbers.get(stats.FIELD_MISS, site=site, field=name)
        and not numbers.get(stats.FIELD_HIT, site=site, field=name)
    ]


def _to_check(what: str, sites: Iterable[str]) -> list[str]:
    """A line that says *what* is to be checked, or none."""
    names = sorted(sites)
    if not names:
        return []
    more = len(names) - MAX_SITES
    named = ", ".join(names[:MAX_SITES]) + (f" and {more} more" if more > 0 else "")
    return [f"{what}: {named}; check them with `scrapy mss check`"]
