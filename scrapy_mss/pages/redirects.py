"""Where a request ended that was redirected away from the page that was asked for.

Sites redirect readers to consent pages and logins, and from articles that are gone to their front
page. Most redirects lead to the page itself, though: those of short links, of the proxies of feeds,
of sites that have moved. So only addresses count that no article has, and a page of another site
where nothing about it is of the article that was asked for.

Each function looks for one of them, and returns where the request ended; empty if nowhere of that.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from scrapy_mss.pages.addresses import (
    SLUG,
    Address,
    is_headlined,
    site_of,
    split_url,
)
from scrapy_mss.pages.declarations import comparable_url
from scrapy_mss.pages.page_facts import PageFacts, address_at, is_telling

_CONSENT_WORD: Final = re.compile(r"consent|cookie|privacy|gdpr|zustimmung|einwilligung")
_LOGIN_PARTS: Final = frozenset(
    "accedi anmelden anmeldung auth authorize connexion einloggen iniciar-sesion inloggen log-in "
    "login logowanie oauth2 se-connecter sign-in signin sso".split()
)
_LOGIN_HOSTS: Final = frozenset("account accounts auth login myaccount signin sso".split())
_FRONT_PARTS: Final = frozenset("default home index".split())
LANGUAGE: Final = 2  # letters in the address of a front page
LONG_WORD: Final = 5  # letters; shorter words of a headline are in many titles
_WORD: Final = re.compile(r"[^\W\d_]+")


def consent(facts: PageFacts) -> str:
    """A consent page whose address has the one that was asked for as the way back."""
    if not _is_elsewhere(facts):
        return ""
    split = split_url(facts.page_url.url.lower())
    way_back = unquote(unquote(split.query))  # it may be the query of an address in the query
    is_consent = _CONSENT_WORD.search(f"{split.netloc}{split.path}") is not None
    has_way_back = comparable_url(facts.requested) in way_back
    return facts.page_url.url if is_consent and has_way_back else ""


def login(facts: PageFacts) -> str:
    """The address of a login."""
    if not _is_elsewhere(facts) or _is_login(facts.requested):
        return ""
    return facts.page_url.url if _is_login(facts.page_url.url) else ""


def front_page(facts: PageFacts) -> str:
    """The front page of the same host, or of any, if an article was asked for."""
    if not _is_elsewhere(facts) or facts.declarations.has_article_type:
        return ""
    asked = address_at(facts.requested)
    if _is_front(asked) or not _is_front(facts.address):
        return ""
    is_expected = _host(facts.requested) == _host(facts.page_url.url) or is_telling(asked)
    return facts.page_url.url if is_expected else ""


def another_site(facts: PageFacts) -> str:
    """A page of another site that says nothing of the headline that was asked for."""
    if not _is_elsewhere(facts) or facts.has_reason:
        return ""
    if site_of(facts.requested) == site_of(facts.page_url.url):
        return ""
    said = f"{facts.title} {unquote(facts.page_url.url)}".casefold()
    asked = address_at(facts.requested)
    headlines = (part.text for part in asked.parts if part.kind == SLUG)
    words = [word for each in headlines for word in _WORD.findall(each) if len(word) >= LONG_WORD]
    # Where the title is in another script than the address, their words cannot be compared.
    can_compare = is_headlined(asked) and facts.title.isascii()
    is_lost = can_compare and bool(words) and not any(word in said for word in words)
    return facts.page_url.url if is_lost else ""


def _is_elsewhere(facts: PageFacts) -> bool:
    """Whether the page is not the one that was asked for."""
    asked, found = facts.requested, facts.page_url.url
    return bool(asked and found) and comparable_url(asked) != comparable_url(found)


def _host(url: str) -> str:
    return comparable_url(url).partition("/")[0].removeprefix("m.")


def _is_login(url: str) -> bool:
    address = address_at(url)
    return address.host in _LOGIN_HOSTS or any(each.text in _LOGIN_PARTS for each in address.parts)


def _is_front(address: Address) -> bool:
    """Whether *address* is that of a front page, which may be of a language."""
    if not address.parts:
        return not address.key
    text = address.parts[0].text
    is_language = len(text) <= LANGUAGE and text.isalpha()
    return len(address.parts) == 1 and (is_language or text in _FRONT_PARTS)
