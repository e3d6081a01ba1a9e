"""The article as a value: what a feed gets for a page.

Strategy: a plain dataclass, so that feeds export its fields in the order in which they are
declared and `itemadapter` reads its field docstrings as descriptions. Everything but the address
may be absent: no value is invented. Dates are ISO 8601 strings that are as precise as the page was:
a day, a time without a zone, or a time in UTC.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

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


@dataclass(repr=False)
class Article:
    """One article of one page; every field but *url* is empty if its value is unknown."""

    url: str
    """Where the page was fetched from."""

    canonical_url: str | None = None
    """The absolute URL that the page declares as its own."""

    title: str | None = None
    """The headline, without the site's name."""

    text: str | None = None
    """The text of the article, with blank lines between paragraphs.

    An item of a list begins with a dash or its number; rows of a table are lines with tabs.
    """

    html: str | None = None
    """The article as HTML that is safe to show, links and images absolute.

    With `MSS_RAW_HTML`, or where the spider has set it, it is what the page had: not safe.
    """

    markdown: str | None = None
    """The article as Markdown, if `MSS_MARKDOWN` asks for it."""

    authors: list[str] = field(default_factory=list)
    """The names of the authors, in the page's order."""

    published: str | None = None
    """When it was published: ISO 8601, in UTC if a zone is known, else as precise as given."""

    modified: str | None = None
    """When it was last changed, in the same form; never before it was published."""

    language: str | None = None
    """The language, as the primary subtag of BCP 47: en, de, zh."""

    description: str | None = None
    """The page's own summary, usually one or two sentences."""

    site_name: str | None = None
    """The site's name for itself."""

    main_image: str | None = None
    """The absolute URL of the main image."""

    media: list[dict[str, str]] = field(default_factory=list)
    """Its images, videos and audio in their order: `kind`, `url`, `caption` and `alt` of each."""

    image_urls: list[str] = field(default_factory=list)
    """The addresses of the images, as Scrapy's `ImagesPipeline` takes them."""

    file_urls: list[str] = field(default_factory=list)
    """Those of videos and audio that are files and not players, for `FilesPipeline`."""

    section: str | None = None
    """The section of the site that it is in."""

    tags: list[str] = field(default_factory=list)
    """What the site has filed it under."""

    breadcrumbs: list[dict[str, str]] = field(default_factory=list)
    """The trail from the site's front page to it: `name` and `url` of each step."""

    is_accessible_for_free: bool | None = None
    """Whether the whole of it can be read without paying, if the page says that."""

    pages: list[str] = field(default_factory=list)
    """The addresses of its further pages, whose text is part of this one."""

    revision: int | None = None
    """1 for a new article, more if an earlier crawl has seen it; with `MSS_ONLY_NEW`."""

    changed: list[str] = field(default_factory=list)
    """What differs from the revision before: title, text."""

    story: str | None = None
    """The same for all articles that tell one story in one wording; with `MSS_COPIES`."""

    probability: float | None = None
    """The probability, from 0 to 1, that the page is an article."""

    confidence: float | None = None
    """How good the text probably is: its expected F1, from 0 to 1, as people would judge it.

    Empty where a wrapper or `MSS_EXTRACTOR` has found the text.
    """

    extractor: str | None = None
    """What read the page: ``wrapper:`` and the wrapper's id, or ``mss:`` and the model's state.

    The state is the profile, the number of learned pages and a digest of all that the model has
    learned: ``mss:default@1754p-100f1b5032d8080a``. If `MSS_EXTRACTOR` found the text, its value.
    """

    crawled: str | None = None
    """When the page was crawled: ISO 8601 with zone."""

    def __repr__(self) -> str:
        """Short, since Scrapy logs every item: text and HTML are given by their lengths."""
        text, html = (
            "None" if value is None else f"<{len(value):,} characters>"
            for value in (self.text, self.html)
        )
        return f"Article(url={self.url!r}, title={self.title!r}, text={text}, html={html}, …)"

    def to_zyte_article(self) -> zyte_common_items.Article:
        """The same as an item of zyte-common-items, which needs Python 3.11 or newer."""
        try:
            import zyte_common_items as zyte
        except ImportError as error:
            message = (
                "Article.to_zyte_article() needs zyte-common-items, which needs Python 3.11 or "
                "newer; run: pip install 'scrapy-mss[zyte]'"
            )
            raise ImportError(message, name=error.name) from error
        values: dict[str, Any] = {
            theirs: getattr(self, ours) for ours, theirs in ZYTE_FIELDS if getattr(self, ours)
        }
        if self.modified:  # theirs has that of the last change where the first is not known
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
        for theirs, (kind, medium) in media.items():
            urls = [each["url"] for each in self.media if each["kind"] == kind]
            if urls:
                values[theirs] = [medium(url=url) for url in urls]
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
        if moment and moment.tzinfo:  # theirs is in UTC, and no zone is invented
            utc = moment.astimezone(timezone.utc)
            values["dateDownloaded"] = utc.strftime("%Y-%m-%dT%H:%M:%SZ")
        return values


ARTICLE_FIELDS = tuple(each.name for each in fields(Article))


def values_of(article: Article) -> dict[str, Any]:
    """All fields of *article* by their names; its lists are copies."""
    values = ((name, getattr(article, name)) for name in ARTICLE_FIELDS)
    return {name: _copied(value) if isinstance(value, list) else value for name, value in values}


def _copied(values: list[Any]) -> list[Any]:
    """A copy of a list of strings, or of dicts of strings: `deepcopy` for what articles have."""
    return [dict(each) if isinstance(each, dict) else each for each in values]
