from __future__ import annotations

import inspect
import sys
from dataclasses import fields

import pytest
from itemadapter import ItemAdapter

from scrapy_mss.items import ZYTE_FIELDS, Article, values_of
from scrapy_mss.metadata.fields import FIELDS

URL = "https://x.example/a"
FULL = Article(
    url=URL,
    canonical_url="https://x.example/b",
    title="Rain falls",
    text="It rains.",
    html="<p>It rains.</p>",
    authors=["Ann Lee", "Bo Ek"],
    published="2024-03-05T10:00:00+01:00",
    modified="2024-03-06",
    language="en",
    description="Rain.",
    site_name="The Daily News",
    main_image="https://x.example/i.png",
    media=[
        {"kind": "image", "url": "https://x.example/i.png", "caption": "Rain", "alt": ""},
        {"kind": "video", "url": "https://x.example/v.mp4", "caption": "", "alt": ""},
        {"kind": "audio", "url": "https://x.example/a.mp3", "caption": "", "alt": ""},
    ],
    image_urls=["https://x.example/i.png"],
    file_urls=["https://x.example/v.mp4", "https://x.example/a.mp3"],
    section="Weather",
    tags=["rain", "May"],
    breadcrumbs=[{"name": "Home", "url": "https://x.example/"}, {"name": "Rain", "url": ""}],
    is_accessible_for_free=True,
    pages=["https://x.example/a/2"],
    probability=0.75,
    confidence=0.9,
    extractor="mss:news-1",
    sources={"title": "page"},
    crawled="2024-03-05T10:00:00+01:00",
)


def test_only_the_address_is_needed() -> None:
    article = Article(URL)

    assert article.authors == []
    assert {each.name for each in fields(Article) if getattr(article, each.name)} == {"url"}


def test_a_log_line_of_an_article_says_how_long_its_texts_are() -> None:
    article = Article(URL, title="Rain falls", text="It rains. " * 1_000, html="<p>")

    assert repr(article) == (
        "Article(url='https://x.example/a', title='Rain falls', text=<10,000 characters>, "
        "html=<3 characters>, …)"
    )
    assert repr(Article(URL)) == f"Article(url={URL!r}, title=None, text=None, html=None, …)"


def test_metadata_has_no_field_that_an_article_lacks() -> None:
    assert set(FIELDS) <= {each.name for each in fields(Article)}


def test_every_field_is_described() -> None:
    described = ItemAdapter.get_json_schema(Article)["properties"]

    assert [name for name, schema in described.items() if not schema.get("description")] == []
    assert len(inspect.getdoc(Article) or "") > 0


def test_zyte_items_are_filled_as_far_as_something_is_known() -> None:
    zyte = pytest.importorskip("zyte_common_items", reason="zyte-common-items is not installed")
    as_on_the_page = {"datePublishedRaw", "dateModifiedRaw"}  # we keep no copy of what was read

    article = FULL.to_zyte_article()
    bare = Article(URL, crawled="2024-03-05T10:00:00", modified="2024-03-06").to_zyte_article()

    assert {name: getattr(article, theirs) for name, theirs in ZYTE_FIELDS} == {
        name: getattr(FULL, name) for name, _ in ZYTE_FIELDS
    }
    assert [author.name for author in article.authors or []] == FULL.authors
    assert article.mainImage is not None
    assert article.mainImage.url == FULL.main_image
    media = (*(article.images or []), *(article.videos or []), *(article.audios or []))
    assert [each.url for each in media] == [each["url"] for each in FULL.media]
    assert [(each.name, each.url) for each in article.breadcrumbs or []] == [
        ("Home", "https://x.example/"),
        ("Rain", None),
    ]
    assert article.metadata is not None
    assert article.metadata.probability == 0.75
    assert article.metadata.dateDownloaded == "2024-03-05T09:00:00Z"
    empty = {each.name for each in zyte.Article.__attrs_attrs__ if not getattr(article, each.name)}
    assert empty == as_on_the_page
    assert (bare.url, bare.headline, bare.authors, bare.mainImage) == (URL, None, None, None)
    assert bare.datePublished == "2024-03-06"  # the last change, if that is all that is known
    assert bare.metadata is not None
    assert bare.metadata.dateDownloaded is None


def test_the_values_of_an_article_share_nothing_with_it() -> None:
    values = values_of(FULL)
    values["media"][0]["url"] = "other"
    values["tags"].append("other")
    values["sources"]["tags"] = "meta"

    assert FULL.media[0]["url"] == "https://x.example/i.png"
    assert FULL.tags == ["rain", "May"]
    assert FULL.sources == {"title": "page"}


def test_a_missing_library_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zyte_common_items", None)

    with pytest.raises(ImportError, match=r"pip install 'scrapy-mss\[zyte\]'"):
        FULL.to_zyte_article()
