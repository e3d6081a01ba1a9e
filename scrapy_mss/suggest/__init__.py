"""Infers a wrapper for a site from stored pages, without labels.

    pages -> how the model reads each, knowing the others               readings
          -> where the article is, and what is certainly not part of it  places
          -> where title, authors and date are                          fields
          -> YAML, and how far rule and model agree on each page        readings

suggestion = suggest(pages, Extractor())
suggestion.yaml
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from scrapy_mss.extractor import Extractor
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.suggest.fields import field_rules
from scrapy_mss.suggest.places import best_place
from scrapy_mss.suggest.readings import PageAgreement, SitePage, agreements, expected, read_pages
from scrapy_mss.wrappers.rules import WILDCARD, SamplePage, UrlParts, Wrapper
from scrapy_mss.wrappers.schema import yaml_of
from scrapy_mss.wrappers.selectors import Selector

MAX_PAGES: Final = 50  # that are read; more add nothing and take longer
MAX_VOTERS: Final = 16  # that a rule is made of; it is compared with all pages
MAX_WORDS: Final = 400_000  # of all that vote; a long article has 10,000
MAX_TESTS: Final = 10  # pages for `scrapy mss check`
MIN_AGREEMENT: Final = 0.9  # with the model, of a page that is a test of the rule

NOT_INFERRED: Final = "site name url next_page priority train_only drop_misses".split()

OTHER_SITE: Final = "of another site"
TOO_MANY: Final = f"beyond the first {MAX_PAGES} pages"


class NoRuleError(ValueError):
    """No rule is good enough; the message says why.

    *around* are the selectors of the place that agrees best with the model, if there is one.
    """

    def __init__(self, message: str, around: tuple[Selector, ...] = ()) -> None:
        super().__init__(message)
        self.around = around


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A rule for a site, and how reliable it is.

    ``confidence`` is the expected agreement with the model on further pages, from 0 to 1, and
    ``fields`` the same for each field with a selector. ``left_out`` has the addresses of excluded
    pages, each with the reason, and ``before`` the texts of the ``pages`` by a rule to be replaced.
    """

    rule: Wrapper
    yaml: str
    confidence: float
    pages: tuple[PageAgreement, ...]
    fields: Mapping[str, float]
    left_out: tuple[tuple[str, str], ...] = ()
    before: tuple[str, ...] = ()


def suggest(
    pages: Sequence[StoredPage],
    extractor: Extractor,
    memory: SiteMemory | None = None,
    instead_of: Wrapper | None = None,
) -> Suggestion:
    """Infer a rule for the site of *pages*, or raise `NoRuleError` with the reason.

    *memory* is what crawls know about the site.
    """
    site, own = of_one_site(pages)
    read = read_pages(own[:MAX_PAGES], extractor, memory)
    of_site = {page.url for page in own}
    others = [(page.url, OTHER_SITE) for page in pages if page.url not in of_site]
    others += [(page.url, TOO_MANY) for page in own[MAX_PAGES:]]
    return suggest_of(site, read, tuple(others), instead_of)


def suggest_of(
    site: str,
    read: Sequence[SitePage],
    others: tuple[tuple[str, str], ...] = (),
    instead_of: Wrapper | None = None,
) -> Suggestion:
    """A rule for *site* from pages that are *read* already; *others* were left out before.

    Which pages it is for, and what cannot be inferred, it has from that which it is *instead_of*.
    """
    left_out = (*others, *((page.url, page.left_out) for page in read if page.left_out))
    voters = _voters(read)
    if not voters:
        reasons = ", ".join(f"{n} {why}" for why, n in Counter(why for _, why in left_out).items())
        raise NoRuleError(
            f"no rule, as none of {len(read)} pages is of use: {reasons or 'no pages'}"
        )
    found = best_place(voters)
    if found is None or not found.is_good:
        raise NoRuleError(
            f"no rule from {len(voters)} articles: no container agrees with the model on pages "
            "that it was not chosen from; give more pages, or only those of one layout",
            found.around if found else (),
        )
    fields = field_rules(voters)
    selectors: dict[str, Any] = {name: (field.selector,) for name, field in fields.items()}
    rule = Wrapper(site=site, around=found.around, exclude=found.exclude, **selectors)
    if instead_of is not None:
        rule = replace(rule, **{name: getattr(instead_of, name) for name in NOT_INFERRED})
    pages = agreements(rule, read)
    rule = replace(rule, tests=_tests(pages))
    confidence = expected(found.agreement * len(voters), len(voters))
    return Suggestion(
        rule,
        yaml_of(rule, _comments(pages, confidence)),
        confidence,
        pages,
        {name: field.confidence for name, field in fields.items()},
        left_out,
        tuple(each.rule_text for each in agreements(instead_of, read)) if instead_of else (),
    )


def of_one_site(pages: Sequence[StoredPage]) -> tuple[str, list[StoredPage]]:
    """The site that most of *pages* are of, as a wrapper names it, and its pages."""
    hosts = {page.url: parts.host for page in pages if (parts := UrlParts.of(page.url))}
    if not hosts:
        raise NoRuleError("no page has an address with a host, and a rule needs a site")
    domains = Counter(site_of(hosts[page.url]) for page in pages if page.url in hosts)
    domain = domains.most_common(1)[0][0]
    of_domain = [page for page in pages if page.url in hosts and site_of(hosts[page.url]) == domain]
    names = Counter(hosts[page.url] for page in of_domain)
    if len(names) == 1 or domain in names:
        host = names.most_common(1)[0][0]
        return host, [page for page in of_domain if hosts[page.url] == host]
    return f"{WILDCARD}{domain}", of_domain


def _voters(read: Sequence[SitePage]) -> list[SitePage]:
    """The pages that a rule is made of: articles, of all of them evenly."""
    able = [page for page in read if not page.left_out]
    step = max(1, -(-len(able) // MAX_VOTERS))
    voters: list[SitePage] = []
    n_words = 0
    for page in able[::step]:
        n_words += len(page.target)
        if voters and n_words > MAX_WORDS:
            break
        voters.append(page)
    return voters


def _tests(pages: Sequence[PageAgreement]) -> tuple[SamplePage, ...]:
    """The pages that the rule fits best, for `scrapy mss check`."""
    good = [page for page in pages if page.matched and page.agreement >= MIN_AGREEMENT]
    urls = dict.fromkeys(page.url for page in good if page.url.isascii() and page.url.isprintable())
    return tuple(SamplePage(url) for url in list(urls)[:MAX_TESTS])


def _comments(pages: Sequence[PageAgreement], confidence: float) -> list[str]:
    articles = [page for page in pages if page.model_text]
    matched = sum(page.matched for page in articles)
    return [
        f"Suggested by scrapy mss suggest, confidence {confidence:.2f}.",
        f"It matches {matched} of the {len(articles)} articles that were read.",
    ]
