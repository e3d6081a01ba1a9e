"""What must hold of all that is read from a page, whatever the page is, one row each.

The checks are oracles of their own: they look at the results with what Python brings and share no
pattern and no list with the package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from html.parser import HTMLParser
from itertools import takewhile
from time import process_time
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from markdown_it import MarkdownIt

from scrapy_mss import Extraction, Extractor, metadata
from scrapy_mss.article import article_of_labels
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.labels import check_example
from scrapy_mss.markup.rendering import render
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.files import bundled_model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.output.markdown import markdown
from scrapy_mss.wrappers import Labelling, Wrapper, css, label

OPERATIONS = ("extract", "metadata", "label")

WRAPPER = Wrapper(
    site="news.example",
    body=(css("article"), css("p"), css("a"), css("b"), css("div")),
    exclude=(css("[class*=teaser]"), css("aside"), css("i")),
    title=(css("h1"), css("b")),
    authors=(css(".author"), css("a")),
    published=(css("time"), css("meta::attr(content)")),
)


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What was read from a page, and the processor time of each of `OPERATIONS` in seconds."""

    extraction: Extraction
    html: str
    markdown: str
    fields: dict[str, Any]
    labelling: Labelling
    labelled: dict[str, Any]  # fields of the labels' article; empty where there is none
    seconds: dict[str, float]

    @property
    def digest(self) -> bytes:
        """Equal for equal readings."""
        found, labelling = self.extraction, self.labelling
        parts = (found.text, found.span, found.probability, self.html, self.markdown)
        hashed = blake2b(
            repr((parts, self.fields, self.labelled)).encode("utf-8", "surrogatepass"),
            digest_size=16,
        )
        for array in (found.scores, found.kept, labelling.inside):
            hashed.update(np.ascontiguousarray(array).tobytes())
        return hashed.digest()


class Reader:
    """Reads pages in all ways that a crawl does, and learns from those that the wrapper labels."""

    def __init__(self) -> None:
        self._extractor = Extractor()
        # As in a crawl, whose tables are in memory before its first page: those of an empty model
        # come page by page of memory with the words that are learned first.
        self._learning = bundled_model()

    def read(self, html: str, url: str) -> Reading:
        """All of the page, which is tokenized once, as in a crawl; an exception is a fault."""
        times = [process_time()]
        tokens = tokenize(html, self._extractor.profile.stem)
        extraction = self._extractor.extract_page(Page(tokens, url))
        shown = extraction.html
        times.append(process_time())
        fields = metadata.read_tokens(tokens, url).values
        times.append(process_time())
        labelling = label(WRAPPER, tokens)
        if labelling.reason is None:
            self._learn(labelling)
        times.append(process_time())
        written = markdown(shown)  # which is made only if a setting asks for it
        labelled = {}
        if labelling.reason is None and (article := article_of_labels(labelling, url).article):
            labelled = {**vars(article)}
            labelled.pop("crawled")  # the time of the reading
        seconds = dict(zip(OPERATIONS, np.diff(times).tolist(), strict=True))
        return Reading(extraction, shown, written, fields, labelling, labelled, seconds)

    def _learn(self, labelling: Labelling) -> None:
        tokens, inside = labelling.tokens, labelling.inside
        if check_example(tokens, inside, DEFAULT.max_tag_share) is None:
            self._learning.bayes.learn(Page(tokens), inside)


_CONTROLS = re.compile("[\0-\x1f\x7f-\x9f\ud800-\udfff]")
_NEVER_SHOWN = frozenset(
    "script style iframe frame frameset object embed applet form input button textarea select svg "
    "math link meta base template title xmp noscript plaintext noembed noframes".split()
)
_NUMBERS = re.compile(r"[-.0-9]+")
# With the tables of GitHub, and a limit that is not the first to be reached.
_COMMONMARK = MarkdownIt("commonmark", {"maxNesting": 200}).enable(["table", "strikethrough"])
_SCHEMES = frozenset({"http", "https", "mailto"})


class _Shown(HTMLParser):
    """What HTML shows, and what in it is not safe, by Python's own parser."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.unsafe = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _NEVER_SHOWN:
            self.unsafe = f"<{tag}>"
        for name, value in attrs:
            if name.startswith("on") or name in ("style", "srcdoc", "class", "id", "name"):
                self.unsafe = f"<{tag} {name}>"
            elif name in ("href", "src") and not _is_safe(tag, value or ""):
                self.unsafe = f"<{tag} {name}={value!r:.80}>"

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.unsafe = f"comment {data!r:.80}"

    def handle_decl(self, decl: str) -> None:
        self.unsafe = f"declaration {decl!r:.80}"

    def unknown_decl(self, data: str) -> None:
        self.unsafe = f"declaration {data!r:.80}"

    def handle_pi(self, data: str) -> None:
        self.unsafe = f"instruction {data!r:.80}"


@lru_cache(maxsize=2)  # that of the extraction and that of the labels: two properties look at them
def _shown(html: str) -> _Shown:
    return _Shown(html)


def _is_safe(tag: str, address: str) -> bool:
    scheme, _, rest = address.strip().lower().partition(":")
    if scheme == "data":
        return tag == "img" and rest.startswith("image/") and "svg" not in rest[:20]
    return scheme in _SCHEMES


def _strings(values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The strings among the *values*, with their fields."""
    for name, value in values.items():
        for each in value if isinstance(value, list | tuple) else [value]:
            for text in each.values() if isinstance(each, dict) else [each]:
                if isinstance(text, str):
                    yield name, text


def no_controls(reading: Reading) -> str:
    """Only what is a whole text has line ends, nothing has another control or a surrogate."""
    texts = (reading.extraction.text, reading.html, reading.markdown)
    whole = dict(zip(("text", "html", "markdown"), texts, strict=True))
    for source in (whole, reading.fields, reading.labelled):
        for name, value in _strings(source):
            shown = value.replace("\n", "").replace("\t", "") if name in whole else value
            if found := _CONTROLS.search(shown):
                return f"{name}: {found[0]!r}"
    return ""


def safe_html(reading: Reading) -> str:
    """Nothing that runs, loads a document, or takes part in the page that shows it."""
    return _shown(reading.html).unsafe or _shown(reading.labelled.get("html", "")).unsafe


def _letters(text: str) -> str:
    """What is not white space, nor a byte order mark, which a parser drops at the beginning."""
    return "".join(text.replace("\ufeff", "").split())


def same_markdown(reading: Reading) -> str:
    """Markdown shows the characters of the HTML, and nothing in it is taken for HTML.

    Where a page counts otherwise than Markdown can, the numbers of a list are written as words.
    """
    rendered = _Shown(_COMMONMARK.render(reading.markdown))
    texts = ["".join(_shown(reading.html).texts), "".join(rendered.texts)]
    if "<ol" in reading.html:
        texts = [_NUMBERS.sub("", text) for text in texts]
    return rendered.unsafe or _difference(*map(_letters, texts))


def _difference(expected: str, shown: str) -> str:
    """Where two texts begin to differ; empty if they do not."""
    if expected == shown:
        return ""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(expected, shown, strict=False))
    at = sum(1 for _ in same)
    return f"at {at}: {expected[at : at + 40]!r} is shown as {shown[at : at + 40]!r}"


def same_words(reading: Reading) -> str:
    """HTML shows the characters of the text, in the same order; the marks of lists are ours."""
    found, labels = reading.extraction, reading.labelling
    pairs = [(render(found.tokens, found.kept), reading.html)]
    if reading.labelled:
        pairs.append((render(labels.tokens, labels.inside), reading.labelled["html"]))
    for text, html in pairs:
        shown = _letters("".join(_shown(html).texts))
        if differs := _difference(_letters(text), shown):
            return differs
    return ""


def consistent(reading: Reading) -> str:
    """The span is a part of the tokens, what is kept is in it, scores and probability are sound."""
    found, n_tokens = reading.extraction, len(reading.extraction.tokens)
    start, end, _ = found.span
    if not 0 <= start <= end <= n_tokens or not len(found.scores) == len(found.kept) == n_tokens:
        return f"span {found.span} of {n_tokens} tokens"
    if found.kept[:start].any() or found.kept[end:].any():
        return "tokens are kept outside the span"
    if not np.isfinite(found.scores).all() or not 0 <= found.probability <= 1:
        return f"probability {found.probability}, or scores that are not finite"
    if len(reading.labelling.inside) != len(reading.labelling.tokens):
        return "labels and tokens differ in number"
    return ""


def web_addresses(reading: Reading) -> str:
    """Addresses that a page gives are absolute ones of the web."""
    for values in (reading.fields, reading.labelled):
        for name in ("canonical_url", "main_image"):
            address = values.get(name)
            if address and not _is_of_the_web(address):
                return f"{name}: {address!r:.80}"
        media = [each["url"] for each in values.get("media", ())]
        trail = [each["url"] for each in values.get("breadcrumbs", ()) if each["url"]]
        for address in (
            *media,
            *trail,
            *values.get("image_urls", ()),
            *values.get("file_urls", ()),
        ):
            if not _is_of_the_web(address):
                return f"media or trail: {address!r:.80}"
    return ""


def _is_of_the_web(address: str) -> bool:
    return urlsplit(address).scheme in ("http", "https")


# Each gives what is wrong, or an empty string.
PROPERTIES: dict[str, Callable[[Reading], str]] = {
    "controls and surrogates": no_controls,
    "unsafe HTML": safe_html,
    "other words in HTML": same_words,
    "other words in Markdown": same_markdown,
    "inconsistent": consistent,
    "no web address": web_addresses,
}
