"""What the URL of a page says: its shape, its site, whether it may be an article.

Nothing here asks the network or remembers what was seen; what a crawl learns of the addresses of a
site is in `scrapy_mss.sites.address_counts`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from math import exp, log
from typing import Any, Final, NamedTuple
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urljoin, urlsplit

from scrapy_mss.markup.lazy import lazy
from scrapy_mss.pages.text import clean

# --- joining and splitting ------------------------------------------------------------------------

# `urljoin`, sooner for the addresses that pages mostly have. The library takes both addresses apart
# and puts the result together, in eight microseconds, to give back what it was given where an
# address is absolute, or to put the site in front of it where it begins with a slash. So it is done
# with all that two expressions match; the library is asked for the others.

# Left out is what it rewrites: dot segments, and the marks of empty parameters, queries, fragments.
_PLAIN_LETTERS: Final = r"A-Za-z0-9_!$&'()*+,=:@~%.\-"
_QUERY: Final = rf"(?:\?[{_PLAIN_LETTERS}/?]+)?"
_SITE: Final = r"https?://[A-Za-z0-9.-]+(?::\d+)?"
_ABSOLUTE: Final = re.compile(rf"{_SITE}(?:/[{_PLAIN_LETTERS}/]*)?{_QUERY}")
_ON_SITE: Final = re.compile(rf"(?!//)(?:/(?!\.)[{_PLAIN_LETTERS}]*)+{_QUERY}")
_BASE: Final = re.compile(rf"({_SITE})(?:[/?#]|\Z)")
# What `urlsplit` does not rewrite: an address without blanks, and without what hosts may not have.
_PLAIN_PARTS: Final = re.compile(
    r"(https?)://([A-Za-z0-9.:-]+)(/[^?#\s]*)?(?:\?([^#\s]*))?(?:#(\S*))?"
)
MAX_URL: Final = 4_096  # characters; data: URLs run to megabytes, and servers reject longer ones


def plainly_joined(base: str, address: str) -> str | None:
    """`urljoin(base, address)` where that has a host and needs no parser; else None."""
    if _ABSOLUTE.fullmatch(address):
        return address
    site = _BASE.match(base) if _ON_SITE.fullmatch(address) else None
    return None if site is None else site[1] + address


def split_url(url: str) -> SplitResult:
    """The parts of *url*; all are empty if it cannot be read, as with an unclosed bracket."""
    try:
        return _split(url)
    except ValueError:
        return SplitResult("", "", "", "", "")


def _split(url: str) -> SplitResult:
    plain = _PLAIN_PARTS.fullmatch(url)
    return urlsplit(url) if plain is None else SplitResult(*plain.groups(""))


def absolute_url(value: str, base: str | None) -> str | None:
    """*value* resolved against *base*; None unless that is an http or https URL."""
    value = value.strip()
    if not value or len(value) > MAX_URL:
        return None
    plain = plainly_joined(base or "", value)
    return joined_url(clean(value).replace(" ", "%20"), base or "") if plain is None else plain


def joined_url(address: str, base: str) -> str | None:
    """The same of an *address* that is clean: decoded, and without blanks."""
    plain = plainly_joined(base, address)
    if plain is not None:
        return plain
    try:
        url = urljoin(base, address)
    except ValueError:  # brackets that do not enclose an IPv6 address
        return None
    parts = split_url(url)
    return url if parts.scheme in ("http", "https") and parts.hostname else None


def is_web_url(url: str) -> bool:
    """Whether *url* is an absolute http or https URL."""
    return len(url) <= MAX_URL and absolute_url(url, None) is not None


def fits(pattern: str, text: str) -> bool:
    """Whether *text* is as *pattern* says, in which `*` is anything; in one pass over *text*."""
    first, *rest = pattern.split("*")
    if not rest:
        return text == first
    *middle, last = rest
    at, until = len(first), len(text) - len(last)
    if at > until or not (text.startswith(first) and text.endswith(last)):
        return False
    for part in middle:
        found = text.find(part, at, until)
        if found < 0:
            return False
        at = found + len(part)
    return True


# --- the site of a host ---------------------------------------------------------------------------

# The site of a host is its registrable domain, which all hosts of one publisher share. Where that
# begins only the Public Suffix List knows: `bbc.co.uk`, `sub.bbc.com`. The snapshot that tldextract
# brings is used, and neither the network nor a cache on disk. Of the list a set of its rules is
# kept: what tldextract itself makes of it is some 18,000 objects, which take 6 MB and a third of
# the time of each collection of garbage. So the file is read without the library, whose `requests`
# takes a tenth of a second, and 17 MB of each worker.
SNAPSHOT: Final = ".tld_set_snapshot"
PRIVATE_DOMAINS: Final = "// ===BEGIN PRIVATE DOMAINS==="  # begins what is left out
_RULE: Final = re.compile(r"^[.*!]*\w\S*", re.MULTILINE)

# Characters; DNS knows no longer ones, and IDNA takes quadratic time over them.
MAX_HOST: Final = 253
MAX_LABELS: Final = 8  # of a host that are compared, but for the last; rules have up to four
CACHED: Final = 4096  # hosts; a crawl asks for the same few again and again


@lru_cache(2**5)  # pages under way: each is asked for six times
def site_of(host_or_url: str) -> str:
    """The site of a host or an absolute URL, in lower case and ASCII; "" if there is no host.

    A host without a registrable domain, such as ``localhost`` or an IP address, is its own site.
    """
    url = host_or_url if "//" in host_or_url else f"//{host_or_url}"
    return site_of_host(_host_of(url))


def _host_of(url: str) -> str:
    """The host of *url* in lower case; "" if there is none."""
    plain = _BASE.match(url)  # in a tenth of the time
    if plain is None:
        return split_url(url).hostname or ""
    return plain[1].split("/")[2].partition(":")[0].lower()


@lru_cache(CACHED)
def site_of_host(host: str) -> str:
    """The site of a *host* in lower case."""
    host, rules = _in_ascii(host.strip(".")).removeprefix("www."), public_suffixes()
    labels = host.rsplit(".", MAX_LABELS)
    for at, label in enumerate(labels):  # the longest rule decides, and an exception before it
        parent = ".".join(labels[at + 1 :])
        name = f"{label}.{parent}" if parent else label
        if f"!{name}" in rules:
            return name
        if name in rules or f"*.{parent}" in rules:
            return ".".join(labels[at - 1 :]) if at else host
    return host


def _in_ascii(host: str) -> str:
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:  # an empty or overlong label, or a lone surrogate
        return host


@lru_cache(maxsize=1)
def public_suffixes() -> frozenset[str]:
    """The rules of the bundled Public Suffix List, as they are written there and in ASCII."""
    listed = _listed_suffixes()
    return frozenset(listed) | {_in_ascii(rule) for rule in listed if not rule.isascii()}


def _listed_suffixes() -> list[str]:
    library: Any = find_spec("tldextract")
    (folder,) = library.submodule_search_locations
    try:
        text = library.loader.get_data(f"{folder}/{SNAPSHOT}").decode()
    except OSError:  # another release may keep it elsewhere
        import tldextract

        return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None).tlds
    return _RULE.findall(text.partition(PRIVATE_DOMAINS)[0])


def names_in_host(url: str | None) -> list[str]:
    """What the host of *url* may call the site: itself and its labels but the public suffix."""
    host = _host_of(url or "").removeprefix("www.").rstrip(".")
    return list(_names_of(host)) if 0 < len(host) <= MAX_HOST else []


@lru_cache(2**8)  # of a site's pages
def _names_of(host: str) -> tuple[str, ...]:
    labels = host.split(".")
    labels = labels[: len(labels) - site_of_host(host).count(".")]
    return (host, *labels, "".join(labels))


# --- features for the page classifier -------------------------------------------------------------

# An article has a date, a number or a long slug. A front, a section, a tag has a short word
# instead, and a page of its own says so by that word. All is counted in the path and the values of
# the query; a page whose address is unknown has no features.

MAX_READ: Final = 2048  # characters of an address that are read
MAX_DIGITS: Final = 8  # of an article's number: what is longer is a number of something else
MAX_SLUG: Final = 8  # words: a longer slug says no more

_DATE_IN_PATH = re.compile(
    r"(?<!\d)(?:19|20)\d\d([/._-]?)(?:0?[1-9]|1[0-2]|[a-z]{3})(?:\1|/)[0-3]?\d"
)
_DIGITS = re.compile(r"\d+")
_FILE_EXTENSION = re.compile(r"\.[a-z]{3,5}$")
_BETWEEN_WORDS = str.maketrans("-_+.", "    ")

LIST_SEGMENTS: Final = frozenset(
    "archiv archive archives archivo auteur author authors autor autoren categoria categories "
    "category etiqueta home index kategorie label page razdel ressort rubrik rubrique search "
    "section sections suche tag tags tema thema themen topic topics".split()
)


@dataclass(frozen=True)
class PageUrl:
    """The address of a page as the page classifier reads it; empty if it is unknown."""

    url: str

    @lazy
    def parts(self) -> tuple[list[str], list[str]]:
        """The segments of the path, without an extension, and the values of the query."""
        split = split_url(self.url[:MAX_READ].lower())
        names = [unquote(name) if "%" in name else name for name in split.path.split("/")]
        segments = [_FILE_EXTENSION.sub("", name) if "." in name else name for name in names]
        values = [each.partition("=")[2] for each in split.query.split("&")]
        return list(filter(None, segments)), list(filter(None, values))

    @property
    def is_known(self) -> bool:
        return bool(self.url)

    @lazy
    def says_nothing(self) -> bool:
        """Whether it is no more than a number: `/12345`, `/?id=12345`."""
        return self.digits > 0 and not (self.slug_words or self.has_date)

    @property
    def is_root(self) -> bool:
        """Whether it is that of a site's front page."""
        return self.is_known and not any(self.parts)

    @lazy
    def has_date(self) -> bool:
        return _DATE_IN_PATH.search("/".join(self.parts[0])) is not None

    @lazy
    def digits(self) -> int:
        """The digits of the longest number, up to ``MAX_DIGITS``."""
        segments, values = self.parts
        numbers = [*_DIGITS.findall("/".join(segments)), *filter(_DIGITS.fullmatch, values)]
        return min(max(map(len, numbers), default=0), MAX_DIGITS)

    @lazy
    def slug_words(self) -> int:
        """The words of the longest slug, up to ``MAX_SLUG``."""
        slugs = [segment.translate(_BETWEEN_WORDS).split() for segment in self.parts[0]]
        n_words = (len(slug) - sum(map(str.isdigit, slug)) for slug in slugs)
        return min(max(n_words, default=0), MAX_SLUG)

    @property
    def is_list(self) -> bool:
        """Whether a word in the path says that it leads to a list."""
        return not LIST_SEGMENTS.isdisjoint(self.parts[0])


# --- shapes ---------------------------------------------------------------------------------------

# What the addresses of a site's articles have in common, and those of lists:
#
#     /news/2024/03/26/storm-over-the-harbour.html        /story.php?id=17
#     exact    /news/{year}/{n}/{slug}.html               /story.php?id={n}
#     general  /{word}/{year}/{n}/{slug}.html             /{word}.php?id={n}
#
# Every address has three shapes. The exact one keeps single words and replaces what differs from
# page to page by its kind. The shape of its place also replaces the last word, so that all sections
# of a site are one, and the general one replaces all words.

MAX_SHAPE_BYTES: Final = 108  # of four parts, an ending, and a key with its value
MAX_WORD_BYTES: Final = 16  # longer words are not names of sections
MAX_PARTS: Final = 4  # the first three and the last: deeper paths differ in the middle
MAX_ADDRESS: Final = 2000  # characters; longer ones are of no shape
SLUG_WORDS: Final = 3  # from so many words on, a part of a path is a headline

YEAR, NUMBER, DATE, IDENTIFIER, SLUG, WORD = ("{year}", "{n}", "{date}", "{id}", "{slug}", "{word}")
_WORDS = re.compile(r"[^\W_]+")
_YEAR = re.compile(r"(19|20)\d\d")
_DATE = re.compile(r"(19|20)\d\d[-_]?[01]\d([-_]?[0-3]\d)?")
_ENDING = re.compile(r"\.[a-z]{1,5}")
_TRACKING = re.compile(r"utm_|ref$|src$|fbclid$|gclid$|srsltid$")


class UrlPart(NamedTuple):
    """A part of a path, or the value of a query: its kind and its text."""

    kind: str
    text: str

    @property
    def exact(self) -> str:
        return self.text if self.kind == WORD else self.kind


class Shapes(NamedTuple):
    """The shapes of an address, which may be the same."""

    general: str
    place: str
    exact: str


class Address(NamedTuple):
    """An address: the parts of its path, and the first key of its query with its value."""

    host: str  # its first label, if there are three and more: news.example.com
    parts: tuple[UrlPart, ...]
    ending: str  # such as .html
    key: str
    value: UrlPart | None

    @property
    def words(self) -> frozenset[str]:
        """The words that may say what kind of page it is: all but those of headlines."""
        texts = [part.text for part in self.parts if part.kind != SLUG]
        return frozenset(_WORDS.findall(" ".join((self.host, self.key, *texts))))

    @property
    def shapes(self) -> Shapes:
        """Its shapes."""
        exact = [part.exact for part in self.parts]
        kinds = [part.kind for part in self.parts]
        value = self.value or UrlPart("", "")
        place = exact if self.key else [*exact[:-1], *kinds[-1:]]
        return Shapes(
            self._shape(kinds, value.kind),
            self._shape(place, value.kind),
            self._shape(exact, value.exact),
        )

    def _shape(self, parts: Iterable[str], value: str) -> str:
        query = f"?{self.key}={value}" if self.key else ""
        return f"/{'/'.join(parts)}{self.ending}{query}"


def address_of(url: str) -> Address | None:
    """The address in *url*; None for one that is too long or cannot be read."""
    return None if len(url) > MAX_ADDRESS else _address_of(url)


@lru_cache(2**4)  # pages under way: each is asked for three times
def _address_of(url: str) -> Address | None:
    try:
        split = _split(url)
    except ValueError:  # an unclosed bracket, and the like
        return None
    texts = [unquote(text) for text in split.path.split("/") if text]
    name, dot, ending = texts[-1].rpartition(".") if texts else ("", "", "")
    ending = f".{ending.lower()}" if name and dot else ""
    if _ENDING.fullmatch(ending):
        texts[-1] = name
    else:
        ending = ""
    if len(texts) > MAX_PARTS:
        texts = [*texts[: MAX_PARTS - 1], texts[-1]]
    host, _, rest = split.netloc.rpartition("@")[-1].lower().partition(".")
    host = host if "." in rest else ""
    return Address(host, tuple(map(_part, texts)), ending, *_first_key(split.query))


def _part(text: str) -> UrlPart:
    text = text.lower()
    if _YEAR.fullmatch(text):
        return UrlPart(YEAR, text)
    if _DATE.fullmatch(text):
        return UrlPart(DATE, text)
    if text.isdigit():
        return UrlPart(NUMBER, text)
    if len(_WORDS.findall(text)) >= SLUG_WORDS:
        return UrlPart(SLUG, text)
    is_name = text.isprintable() and len(text.encode("utf-8", "replace")) <= MAX_WORD_BYTES
    if not is_name or any(each.isdigit() for each in text):
        return UrlPart(IDENTIFIER, text)
    return UrlPart(WORD, text)


def _first_key(query: str) -> tuple[str, UrlPart | None]:
    """The first key of a *query* that does not only say where readers came from."""
    for key, value in parse_qsl(query, keep_blank_values=True) if query else ():
        name = _part(key)
        if name.kind == WORD and not _TRACKING.match(name.text):
            return name.text, _part(value)
    return "", None


# --- is it the address of an article? -------------------------------------------------------------

# The probability that an address is that of an article, by general features of addresses: a date, a
# headline in words, a page of a list. The log-odds were set by hand;
# `research.studies.link_priority` measures them.

PRIOR: Final = -1.0  # log-odds of an address that has none of `URL_FEATURES`
MAX_LOG_ODDS: Final = 4.0  # of a share of pages, as certain as one in 55
LONG_NUMBER: Final = 4  # digits
LONG_SLUG: Final = 5  # separators, so six words
HEADLINE_WORDS: Final = 5  # `iphone-android-app-review` is a list

_SEPARATORS = re.compile(r"[-_]+")

_STORIES = frozenset(
    "article articles articulo artikel blog blogs nachrichten news nieuws noticia noticias "
    "novosti post posts press stories story".split()
)
_LISTS = frozenset(
    "archiv archive archives archivo auteur author authors autor autoren browse categoria "
    "categories category collection collections directory etiqueta index kategorie label list "
    "listing listings magazine page pages razdel ressort rubrik rubrique search section "
    "sections suche tag tags tema thema topic topics".split()
)
_SERVICES = frozenset(
    "about account agb app apps bbs careers cart checkout company contact datenschutz doc docs "
    "documentation download downloads event events faq forum forums guide help home impressum "
    "info jobs kontakt legal login logout manual member members newsletter pricing privacy "
    "product products register service services shop signin signup store subscribe support "
    "terms thread threads user users".split()
)
_MEDIA = frozenset(
    "audio bilder foto fotos galerie galleries gallery image images photo photos pictures "
    "podcast podcasts slideshow video videos watch".split()
)
_FILES = frozenset(
    ".css .csv .doc .docx .gif .ico .jpeg .jpg .js .json .mov .pdf .png .ppt .rss .svg .txt "
    ".webp .xls .xml .zip".split()
)
_PAGES = frozenset(".asp .aspx .htm .html .php .shtml".split())


class UrlFeature(NamedTuple):
    """A feature of addresses: its name, its log-odds, and whether an address has it."""

    name: str
    log_odds: float
    is_of: Callable[[Address], bool]


def _has_word(words: frozenset[str]) -> Callable[[Address], bool]:
    return lambda address: not words.isdisjoint(address.words)


def _last_is(*kinds: str) -> Callable[[Address], bool]:
    return lambda address: bool(address.parts) and address.parts[-1].kind in kinds


def _has_long_headline(address: Address) -> bool:
    return _last_is(SLUG)(address) and len(_SEPARATORS.findall(address.parts[-1].text)) >= LONG_SLUG


def is_dated(address: Address) -> bool:
    """Whether a date is in the path of *address*."""
    kinds = [part.kind for part in address.parts]
    return DATE in kinds or YEAR in kinds[:-1]


def _has_long_number(address: Address) -> bool:
    last = (address.value or address.parts[-1]) if address.parts else None
    return last is not None and sum(each.isdigit() for each in last.text) >= LONG_NUMBER


URL_FEATURES: Final = (
    UrlFeature("the front page", -3.0, lambda address: not address.parts and not address.key),
    UrlFeature("a headline at the end", 2.0, _last_is(SLUG)),
    UrlFeature("a long headline at the end", 0.5, _has_long_headline),
    UrlFeature("a date", 2.0, is_dated),
    UrlFeature("a single word at the end", -1.0, _last_is(WORD)),
    UrlFeature("a number at the end", 0.5, _last_is(NUMBER, IDENTIFIER)),
    UrlFeature("a long number in the last part", 1.0, _has_long_number),
    UrlFeature("an ending of pages", 0.5, lambda address: address.ending in _PAGES),
    UrlFeature("an ending of files", -6.0, lambda address: address.ending in _FILES),
    UrlFeature("a word for stories", 1.0, _has_word(_STORIES)),
    UrlFeature("a word for lists", -2.5, _has_word(_LISTS)),
    UrlFeature("a word for services", -2.5, _has_word(_SERVICES)),
    UrlFeature("a word for pictures", -2.0, _has_word(_MEDIA)),
)


def is_section(url: str) -> bool:
    """Whether *url* may be the front page of a section: a single word, of no service."""
    address = address_of(url)
    if address is None or len(address.parts) != 1 or address.key or address.ending in _FILES:
        return False
    return address.parts[0].kind == WORD and address.words.isdisjoint(_SERVICES | _MEDIA)


def is_list(address: Address) -> bool:
    """Whether a word in *address* says that it leads to a list."""
    return not _LISTS.isdisjoint(address.words)


def is_headlined(address: Address) -> bool:
    """Whether a part of the path of *address* is a headline: more words than a section's name."""
    slugs = (part.text for part in address.parts if part.kind == SLUG)
    return any(len(_WORDS.findall(slug)) >= HEADLINE_WORDS for slug in slugs)


def article_prior(address: Address) -> float:
    """How probably the page at *address* is an article, if nothing is known of its site."""
    return logistic(PRIOR + sum(each.log_odds for each in URL_FEATURES if each.is_of(address)))


def logistic(log_odds: float) -> float:
    """The probability with these log-odds."""
    return 1 / (1 + exp(-log_odds))


def log_odds(probability: float) -> float:
    """The log-odds of a *probability*, bounded."""
    least = logistic(-MAX_LOG_ODDS)
    bounded = min(max(probability, least), 1 - least)
    return log(bounded) - log(1 - bounded)


# --- pages of one article -------------------------------------------------------------------------

# A link with `rel=next` may also lead to the next article of a blog or the next day of an archive.
# So it is believed only if its address is that of its own page with the number after it:
#
#     /ferry.html -> /ferry-2.html    /ferry -> /ferry/2 -> /ferry/3    /ferry -> /ferry?page=2

MAX_PARAMETERS: Final = 50
PAGE_PARAMETERS: Final = frozenset(
    "page p pg seite pagina pageno page_no paged currentpage".split()
)
_NUMBERED: Final = re.compile(
    r"(?P<stem>/.*?)(?:/(?:page|seite|pagina|p)?[-_/]?|[-_,.](?:page|seite|pagina|p|s)?[-_]?)"
    r"(?P<number>[1-9]\d?)(?P<extension>\.[a-z]{2,5})?/?",
    re.IGNORECASE,
)


class Numbered(NamedTuple):
    """A page of an article: the article's address, and which of its pages it is."""

    article: str
    number: int


def follows(url: str, before: str) -> bool:
    """Whether *url* is that of the page after *before* in one article."""
    earlier = set(_readings(before))
    return any(Numbered(article, number - 1) in earlier for article, number in _readings(url))


def is_first(url: str, following: str) -> bool:
    """Whether *url* is that of the first page of the article that goes on at *following*."""
    return not articles_begun(url).isdisjoint(articles_continued(following))


def articles_begun(url: str) -> set[str]:
    """The articles that *url* may be the first page of."""
    return {article for article, number in _readings(url) if number <= 1}


def articles_continued(url: str) -> set[str]:
    """The articles that *url* may be a further page of."""
    return {article for article, number in _readings(url) if number > 1}


def _readings(url: str) -> Iterator[Numbered]:
    """What the address of a page may mean: an article of one page, or a page of an article."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    pairs = parse_qsl(parts.query, keep_blank_values=True)[:MAX_PARAMETERS]
    others = [(name, value) for name, value in pairs if name.lower() not in PAGE_PARAMETERS]
    host = parts.netloc.lower()
    yield Numbered(f"{host}{path}?{urlencode(pairs)}", 1)
    numbers = [value for name, value in pairs if name.lower() in PAGE_PARAMETERS]
    if len(numbers) == 1 and re.fullmatch(r"\d{1,2}", numbers[0]):
        article = f"{host}{path}?{urlencode(others)}"
        yield Numbered(article, int(numbers[0]))
        yield Numbered(article, int(numbers[0]) + 1)  # some count from zero
    found = _NUMBERED.fullmatch(parts.path)
    if found is not None:
        stem = f"{found['stem']}{found['extension'] or ''}".rstrip("/")
        yield Numbered(f"{host}{stem}?{urlencode(pairs)}", int(found["number"]))
