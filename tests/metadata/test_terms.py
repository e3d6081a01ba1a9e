"""Sections, tags, trails, paywalls and declared media: worked examples with near misses."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from scrapy_mss import metadata
from scrapy_mss.metadata import Metadata
from scrapy_mss.metadata.fields import MAX_TAGS, tags_of
from scrapy_mss.metadata.lookups import MAX_CRUMBS
from scrapy_mss.output.media import AUDIO, IMAGE, VIDEO

URL = "https://www.dailynews.example/weather/rain"


def read_page(head: str = "", body: str = "") -> Metadata:
    source = f"<!doctype html><html lang=en><head>{head}</head><body>{body}</body></html>"
    return metadata.read_html(source, URL)


def meta(name: str, content: str) -> str:
    return f'<meta property="{name}" content="{content}">'


def json_ld(*nodes: Mapping[str, object]) -> str:
    return f'<script type="application/ld+json">{json.dumps(nodes)}</script>'


def article(**values: object) -> str:
    return json_ld({"@type": "NewsArticle", "headline": "Rain", **values})


@pytest.mark.parametrize(
    ("head", "section"),
    [
        (meta("article:section", "Weather"), "Weather"),
        (article(articleSection=["Weather", "News"]), "Weather"),
        (meta("article:section", "https://social.example/weather"), None),
        (meta("article:section", "Rain fell in the whole of the country " * 3), None),
        (meta("og:section", "Weather"), None),
    ],
)
def test_a_section_is_a_short_name(head: str, section: str | None) -> None:
    assert read_page(head).section == section


@pytest.mark.parametrize(
    ("head", "body", "tags", "source"),
    [
        (
            meta("article:tag", "Rain") + meta("article:tag", "May"),
            "",
            ["Rain", "May"],
            "opengraph",
        ),
        (article(keywords="rain, May; rain ,Storms"), "", ["rain", "May", "Storms"], "json-ld"),
        (article(keywords=["rain", "Rain", "#May"]), "", ["rain", "May"], "json-ld"),
        (meta("keywords", "rain،storm、雨"), "", ["rain", "storm", "雨"], "meta"),
        (
            "",
            "<a rel=tag href=/r>Rain</a> <a rel='tag' href=/m>May</a>",
            ["Rain", "May"],
            "rel-tag",
        ),
        ("", "<a rel=stage href=/r>Rain</a>", [], None),
        (article(keywords=["locale: US", "type: text", "rain"]), "", ["rain"], "json-ld"),
        (article(keywords=["Mission: Rain", "rain"]), "", ["Mission: Rain", "rain"], "json-ld"),
        (article(keywords="26157981-b4f7-4929-adc1-e860c6f03636, 2024"), "", [], None),
    ],
)
def test_tags_are_words_each_once(
    head: str, body: str, tags: list[str], source: str | None
) -> None:
    found = read_page(head, body)

    assert found.tags == tags
    assert found.source("tags") == source


def test_the_tags_of_teasers_are_not_those_of_the_article() -> None:
    teaser = "<div class=teaser><p><a rel=tag href=/x>Other</a></p></div>"
    body = f"<ul><li><a rel=tag href=/r>Rain</a><li><a rel=tag href=/m>May</a></ul>{teaser * 5}"

    assert read_page(body=body).tags == ["Rain", "May"]


def test_there_are_not_too_many_tags() -> None:
    assert len(tags_of([",".join(f"tag {chr(97 + n % 26) * (n + 1)}" for n in range(90))])) <= (
        MAX_TAGS
    )


PART = {"@type": "WebPageElement", "isAccessibleForFree": False, "cssSelector": ".paid"}


@pytest.mark.parametrize(
    ("head", "body", "free"),
    [
        (article(isAccessibleForFree=True), "", True),
        (article(isAccessibleForFree=False), "", False),
        (article(isAccessibleForFree="False"), "", False),
        (article(isAccessibleForFree="https://schema.org/True"), "", True),
        (article(hasPart=PART), "", False),
        (article(hasPart=[{"@type": "WebPageElement", "isAccessibleForFree": True}]), "", None),
        (article(isAccessibleForFree=True, hasPart=PART), "", True),
        (json_ld({"@type": "WebPage", "isAccessibleForFree": "false"}), "", False),
        (meta("article:content_tier", "locked"), "", False),
        (meta("article:content_tier", "metered"), "", None),
        ("", "<meta itemprop=isAccessibleForFree content=False>", False),
        ("", "<p>Subscribe to continue reading.</p>", None),
        (article(isAccessibleForFree={"@value": 3}), "", None),
    ],
)
def test_a_paywall_is_what_the_markup_says_and_no_phrase(
    head: str, body: str, *, free: bool | None
) -> None:
    assert read_page(head, body).is_accessible_for_free is free


def crumb(position: object, name: object, item: object = None) -> dict[str, object]:
    return {"@type": "ListItem", "position": position, "name": name, "item": item}


HOME = {"name": "Home", "url": "https://www.dailynews.example/"}


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([crumb(2, "Weather"), crumb(1, "Home", "/")], [HOME, {"name": "Weather", "url": ""}]),
        ([crumb("1", None, {"@id": "/", "name": "Home"})], [HOME]),
        (
            [crumb(1, "Home", {"url": "/"}), crumb(None, "Rain")],
            [HOME, {"name": "Rain", "url": ""}],
        ),
        ([crumb(1, "Home", "javascript:go()")], [{"name": "Home", "url": ""}]),
        ([crumb(10**400, 7), "Home", None, 3], []),
    ],
)
def test_a_trail_begins_at_the_front_page(
    items: list[object], expected: list[dict[str, str]]
) -> None:
    trail = {"@type": "BreadcrumbList", "itemListElement": items}

    assert read_page(json_ld(trail)).breadcrumbs == expected
    assert read_page(json_ld({"@type": "WebPage", "breadcrumb": trail})).breadcrumbs == expected


def test_a_trail_has_an_end() -> None:
    items = [crumb(n, f"Step {n}") for n in range(1_000)]
    trail = {"@type": "BreadcrumbList", "itemListElement": items}

    assert len(read_page(json_ld(trail)).breadcrumbs) == MAX_CRUMBS


def test_declared_media_are_those_of_the_article() -> None:
    video = {
        "@type": "VideoObject",
        "name": "Rain in motion",
        "contentUrl": "/rain.mp4",
        "embedUrl": "https://player.example/1",
    }
    audio = {"@type": "AudioObject", "contentUrl": "https://cdn.example/rain.mp3?x=1"}
    other = {"@type": "VideoObject", "contentUrl": "https://cdn.example/other.mp4"}
    head = (
        article(video=video, associatedMedia=[audio])
        + json_ld(other)
        + meta("og:image", "/rain.jpg")
        + meta("og:image:alt", "A wet street")
        + meta("og:video", "https://player.example/og")
    )

    found = read_page(head).media

    assert [(each.kind, each.url, each.caption, each.alt, each.is_file) for each in found] == [
        (IMAGE, "https://www.dailynews.example/rain.jpg", "", "A wet street", True),
        (VIDEO, "https://www.dailynews.example/rain.mp4", "Rain in motion", "", True),
        (AUDIO, "https://cdn.example/rain.mp3?x=1", "", "", True),
    ]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (meta("og:video", "https://player.example/og"), [(VIDEO, False)]),
        (meta("og:video:url", "https://cdn.example/a.mp4"), [(VIDEO, True)]),
        (article(video={"@type": "VideoObject", "contentUrl": "data:video/mp4,x"}), []),
        (article(video=["https://cdn.example/a.mp4", 3, None]), []),
        (meta("og:image", "/images/site-logo.png"), []),
    ],
)
def test_a_player_is_no_file_and_a_logo_no_picture(
    head: str, expected: list[tuple[str, bool]]
) -> None:
    assert [(each.kind, each.is_file) for each in read_page(head).media] == expected
