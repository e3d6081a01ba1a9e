"""The article as a value: the item of a page.

Strategy: a plain dataclass, so that feeds export its fields in the order of their declaration
and `itemadapter` reads the field docstrings as descriptions. Everything except the address
may be absent: no value is invented. Dates are ISO 8601 strings as precise as on the page:
a day, a time without a zone, or a time in UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import zyte_common_items

# Our field, and the one of `zyte_common_items.Article` that holds the same value in the same form.
ZYTE_FIELDS: tuple[tuple[str, str], ...] = (
    ("url", "url"),
    ("canonical_url", "canonicalUrl"),
    ("title", "headline"),
    ("text", "articleBody"),
    ("html", "articleBodyHtml"),
    ("published", "datePublished"),
    ("modified", "dateModified"),
    ("language", "inLanguage"),
    ("description", "description"),
)


# Where the value of a field is from, and what that means.
WRAPPER, FEED, TEXT, PAGE = "wrapper", "feed", "text", "page"
SOURCES: Final[Mapping[str, str]] = {
    WRAPPER: "a selector of the site's wrapper",
    "json-ld": "JSON-LD",
    "opengraph": "OpenGraph",
    "meta": "another `<meta>`",
    "url": "the address",
    TEXT: "the words of the text",
    FEED: "the feed or sitemap that names the page",
    PAGE: "anything else on the page",
}


@dataclass(repr=False)
class Article:
    """The article of a page. All fields except *url* are empty if their value is unknown."""

    url: str
    """The address from which the page was fetched."""

    canonical_url: str | None = None
    """The absolute URL that the page declares as its own."""

    title: str | None = None
    """The headline, without the site's name."""

    text: str | None = None
    """The text of the article, with blank lines between paragraphs.

    List items begin with a dash or their number; table rows are lines with tabs.
    """

    html: str | None = None
    """The article as HTML that is safe to show, with absolute links and images.

    Not safe if the spider has set it.
    """

    raw_html: str | None = None
    """The article in the page's own source, which is not safe to show; with `MSS_FIELDS`."""

    markdown: str | None = None
    """The article as Markdown; with `MSS_FIELDS`."""

    authors: list[str] = field(default_factory=list)
    """The names of the authors, in page order."""

    published: str | None = None
    """The publication date: ISO 8601, in UTC if the zone is known, otherwise as on the page."""

    modified: str | None = None
    """The last modification date, in the same form; never before the publication."""

    language: str | None = None
    """The language as the primary subtag of BCP 47: en, de, zh."""

    description: str | None = None
    """The page's own summary, usually one or two sentences."""

    site_name: str | None = None
    """The name of the site, as it calls itself."""

    main_image: str | None = None
    """The absolute URL of the main image."""

    media: list[dict[str, str]] = field(default_factory=list)
    """Images, videos and audio in page order, each with `kind`, `url`, `caption` and `alt`."""

    image_urls: list[str] = field(default_factory=list)
    """The addresses of the images, for Scrapy's `ImagesPipeline`."""

    file_urls: list[str] = field(default_factory=list)
    """The addresses of video and audio files, excluding players, for `FilesPipeline`."""

    section: str | None = None
    """The section of the site."""

    tags: list[str] = field(default_factory=list)
    """The tags or keywords that the site has assigned."""

    breadcrumbs: list[dict[str, str]] = field(default_factory=list)
    """The trail from the site's front page to the article: `name` and `url` of each step."""

    is_accessible_for_free: bool | None = None
    """Whether the whole article can be read without paying, if the page declares it."""

    is_complete: bool | None = None
    """Whether the text is the whole article, if the page says so by its words or by its end."""

    incomplete_reason: str | None = None
    """Why the text is not complete: ``paywall``, ``cut_end``, or ``word_count``.

    A paywall is declared or on the page, and the text breaks off or is too short; the end offers to
    go on or is an ellipsis; or the page declares many more words.
    """

    entries: list[dict[str, str]] = field(default_factory=list)
    """The entries of a live blog in page order, each with `time`, `headline` and `text`."""

    new_entries: list[dict[str, str]] = field(default_factory=list)
    """Those that the page has got since its previous revision; with `MSS_ONLY_NEW`."""

    pages: list[str] = field(default_factory=list)
    """The addresses of further pages, whose text is included."""

    revision: int | None = None
    """1 for a new article, higher if an earlier crawl has seen it; with `MSS_ONLY_NEW`."""

    changed: list[str] = field(default_factory=list)
    """What differs from the previous revision: title, text."""

    added: list[str] = field(default_factory=list)
    """The sentences that the text has got since the previous revision."""

    removed: int | None = None
    """How many sentences of the previous revision the text no longer has."""

    story: str | None = None
    """A key shared by all articles with the same wording; with `MSS_COPIES`."""

    kind: str | None = None
    """What the page is: ``article``, ``live_blog``, or a [kind](kinds.md) that `MSS_EMIT` names."""

    probability: float | None = None
    """The probability, from 0 to 1, that the page is an article."""

    confidence: float | None = None
    """The expected F1 of the text, from 0 to 1, compared with the text that people would select.

    Empty if a wrapper found the text.
    """

    extractor: str | None = None
    """What read the page: ``wrapper:`` and the wrapper's id, or ``mss:`` and the model's state.

    The state is the profile, the number of learned pages and a digest of everything that the model
    has learned: ``mss:default@1754p-100f1b5032d8080a``.
    """

    sources: dict[str, str] = field(default_factory=dict)
    """Where each field is from: one of `SOURCES` by the field's name; with `MSS_FIELDS`."""

    reservations: list[dict[str, str]] = field(default_factory=list)
    """What page and site say on machine use: `place`, `name`, `value`; with `MSS_FIELDS`."""

    crawled: str | None = None
    """The time of the crawl: ISO 8601 with zone."""

    def __repr__(self) -> str:
        """Short, because Scrapy logs every item: text and HTML are shown by their lengths."""
        text, html = (
            "None" if value is None else f"<{len(value):,} characters>"
            for value in (self.text, self.html)
        )
        return f"Article(url={self.url!r}, title={self.title!r}, text={text}, html={html}, …)"

    def to_zyte_article(self) -> zyte_common_items.Article:
        """The article as an item of zyte-common-items, which needs Python 3.11 or newer."""
        try:
            import zyte_common_items as zyte
        except ImportError as error:
            message = (
                "Article.to_zyte_article() needs zyte-common-items, which needs Python 3.11 or "
                "newer; run: pip install 'scrapy-mss[zyte]'"
            )
            raise ImportError(message, name=error.name) from error
        values: dict[str, Any] = {
            zyte_name: value for name, zyte_name in ZYTE_FIELDS if (value := getattr(self, name))
        }
        if self.modified:  # Zyte's has that of the last change where the first is not known
            values.setdefault("datePublished", self.modified)
        if self.authors:
            values["authors"] = [zyte.Author(name=name) for name in self.authors]
        if self.main_image:
            values["mainImage"] = zyte.Image(url=self.main_image)
        media = {
            "images": ("image", zyte.Image),
            "videos": ("video", zyte.Video),
            "audios": ("audio", zyte.Audio),
        }
        for zyte_name, (kind, medium) in media.items():
            urls = [each["url"] for each in self.media if each["kind"] == kind]
            if urls:
                values[zyte_name] = [medium(url=url) for url in urls]
        if self.breadcrumbs:
            values["breadcrumbs"] = [
                zyte.Breadcrumb(name=each["name"], url=each["url"] or None)
                for each in self.breadcrumbs
            ]
        return zyte.Article(**values, metadata=zyte.ArticleMetadata(**self._zyte_metadata()))

    def _zyte_metadata(self) -> dict[str, Any]:
        """What is known of the extraction; zyte-common-items takes an absent probability for 1."""
        values: dict[str, Any] = {}
        if self.probability is not None:
            values["probability"] = self.probability
        moment = datetime.fromisoformat(self.crawled) if self.crawled else None
        if moment and moment.tzinfo:  # Zyte's is in UTC, and no zone is invented
            utc = moment.astimezone(timezone.utc)
            values["dateDownloaded"] = utc.strftime("%Y-%m-%dT%H:%M:%SZ")
        return values


ARTICLE_FIELDS = tuple(each.name for each in fields(Article))
# Filled only on request (`MSS_FIELDS`).
OPTIONAL_FIELDS = ("raw_html", "markdown", "sources", "reservations")


def values_of(article: Article) -> dict[str, Any]:
    """All fields of *article* by their names; its lists and dicts are copies."""
    return {name: _copied(getattr(article, name)) for name in ARTICLE_FIELDS}


def _copied(value: Any) -> Any:  # noqa: ANN401 - a field of any type
    """*value* with lists and dicts of its own: `deepcopy` for what articles have."""
    if isinstance(value, list):
        return [_copied(each) for each in value]
    return dict(value) if isinstance(value, dict) else value
