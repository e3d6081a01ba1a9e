"""What a crawl did, in a few lines at its end."""

from __future__ import annotations

from collections.abc import Iterable

from scrapy_mss import stats
from scrapy_mss.stats import Numbers

SHOWN = 10  # names of wrappers that matched nothing; a crawl with hundreds of rules has many


def summarized(numbers: Numbers, model_name: str, sites: Iterable[str]) -> str:
    """One line for what was learned, one for what was found, one for wrappers in trouble."""
    articles = int(numbers.get(stats.EXTRACT_ARTICLES))
    pages = int(numbers.get(stats.EXTRACT_PAGES))
    mean = numbers.get(stats.EXTRACT_PROBABILITY) / articles if articles else 0.0
    learned, seen = int(numbers.get(stats.TRAIN_LEARNED)), int(numbers.get(stats.TRAIN_SEEN))
    names = sorted(set(sites))
    hits = {site for site in names if numbers.get(stats.WRAPPER_HIT, site=site)}
    misses = [site for site in names if numbers.get(stats.WRAPPER_MISS, site=site)]
    of_sites = f"{learned} of {seen} pages of {len(hits)} wrapped sites"
    lines = [
        f"scrapy-mss: learned {of_sites} (model {model_name})",
        f"scrapy-mss: {articles} articles in {pages} pages, mean probability {mean:.2f}",
    ]
    silent = [site for site in misses if site not in hits]
    if silent:
        more = f" and {len(silent) - SHOWN} more" if len(silent) > SHOWN else ""
        lines.append(
            f"scrapy-mss: wrappers that matched no page of their site: "
            f"{', '.join(silent[:SHOWN])}{more}; check them with `scrapy mss check`"
        )
    return "\n".join(lines)
