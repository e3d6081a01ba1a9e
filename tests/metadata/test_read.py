"""Worked examples: a small page each, its metadata, and their source."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from scrapy_mss import metadata
from scrapy_mss.items import SOURCES, Article
from scrapy_mss.metadata.fields import FIELDS, MAX_TAGS, FieldSource, tags_of
from scrapy_mss.metadata.lookups import MAX_CRUMBS
from scrapy_mss.output.media import AUDIO, IMAGE, VIDEO

SITE_URL = "https://www.dailynews.example"
URL = f"{SITE_URL}/weather/rain"


def read(head: str = "", body: str = "", language: str = "en") -> metadata.Metadata:
    source = f"<!doctype html><html lang='{language}'><head>{head}</head><body>{body}</body></html>"
    return metadata.read_html(source, URL)


def read_page(head: str = "", body: str = "", language: str = "en") -> Article:
    return Article(URL, **read(head, body, language).values)


def meta(name: str, content: str) -> str:
    return f'<meta name="{name}" content="{content}">'


def graph(*nodes: Mapping[str, object]) -> str:
    return f'<script type="application/ld+json">{json.dumps(nodes)}</script>'


def json_ld(**values: object) -> str:
    return graph({"@type": "NewsArticle", **values})


SITE = meta("og:site_name", "The Daily News")
H1 = "<h1>Rain falls in May</h1>"
TITLES = [
    (f"{meta('og:title', 'Rain falls in May | The Daily News')}", H1, "heading"),
    (json_ld(headline="Rain falls in May"), H1, "heading"),
    ("<title>Rain falls in May – Weather – The Daily News</title>", H1, "heading"),  # noqa: RUF001
    (meta("og:title", "Rain falls in May"), "<h1>The Daily News</h1>", "opengraph"),
    (meta("og:title", "Rain falls in May"), "<h1>Weather</h1>", "opengraph"),
    (json_ld(headline="Rain falls in May"), "", "json-ld"),
    (meta("og:title", "Rain falls in…") + json_ld(headline="Rain falls in May"), "", "json-ld"),
    (meta("citation_title", "Rain falls in May"), "", "meta"),
    (meta("DC.title", "Rain falls in May"), "", "meta"),
    ("", "<p itemprop='headline'>Rain falls in May</p>", "microdata"),
    ("<title>Rain</title>", H1, "heading"),
    ("<title>Rain falls in May | The Daily News</title>", "", "title"),
    ("<title>Rain falls in May | News</title>", "<h2>Rain falls in May</h2>", "heading"),
    ("<title>Rain falls in May</title>", "<h2>Most read now</h2>", "title"),
    ("<title>Rain falls in May</title>", "<svg><title>Menu</title></svg>", "title"),
]
PERSON = {"@type": "Person", "name": "Ann Lee"}
AUTHORS = [
    (json_ld(author=PERSON), "", "json-ld"),
    (json_ld(author=[PERSON, {"@type": "Organization", "name": "The Daily News"}]), "", "json-ld"),
    (json_ld(author={"name": "The Daily News"}), "<h1>Rain</h1><p>By Ann Lee</p>", "label"),
    (meta("citation_author", "Lee, Ann"), "", "meta"),
    (meta("author", "By Ann Lee"), "", "meta"),
    (meta("article:author", "https://social.example/ann") + meta("byl", "Ann Lee"), "", "meta"),
    (meta("DC.creator", "Lee, Ann"), "", "meta"),
    ("", "<p itemprop=author itemscope><b itemprop=name>Ann Lee</b></p>", "microdata"),
    ("", "<a rel=author href=/ann>Ann Lee</a>", "rel-author"),
    ("", f"{H1}<p>By <a>Ann Lee</a><span>March 5, 2024</span></p>", "label"),
    ("", f"{H1}<div class=byline><b>Ann Lee</b><i>Reporter</i></div>", "byline"),
    ("", f"{H1}<p><a href=/author/ann-lee>Ann Lee</a></p>", "byline"),
]
NO_AUTHORS = [
    ("", f"{H1}<p>Ann Lee</p>"),  # nothing marks it as the author
    ("", f"{H1}<div class=byline>Read more</div>"),
    ("", f"{H1}{'<p>' + 'Rain is falling now. ' * 9 + '</p>'}" * 4 + "<p class=author>Bo Ek</p>"),
    ("", "<p itemscope itemtype='https://schema.org/Comment'><b itemprop=author>Bo Ek</b></p>"),
    (meta("twitter:creator", "@annlee"), ""),
    (json_ld(author="https://www.dailynews.example/ann"), ""),
]
DAY = "2024-03-05"
TIME = "2024-03-05T10:00:00+01:00"
PUBLISHED = [
    (meta("article:published_time", TIME), "", TIME, "meta"),
    (meta("article:published_time", "soon") + json_ld(datePublished=TIME), "", TIME, "json-ld"),
    (json_ld(**{"@type": "WebPage", "datePublished": TIME}), "", TIME, "json-ld"),
    ("", f"<meta itemprop=datePublished content={TIME}>", TIME, "microdata"),
    ("", f"<p itemprop=datePublished content={TIME}>today</p>", TIME, "microdata"),
    (meta("date", DAY), "", DAY, "meta"),
    ("", f"<time datetime={DAY}>today</time>", DAY, "time"),
    ("", f"<time class=published datetime={DAY}>today</time>", DAY, "time"),
    ("", "<time>March 5, 2024</time>", DAY, "time"),
    ("", f"<time class=updated datetime=2024-04-01></time><time datetime={DAY}>", DAY, "time"),
    ("", f"<time datetime=2024-04-01></time>{H1}<time datetime={DAY}></time>", DAY, "time"),
    (f'<script>{{\'a\': 1, "publishedAt":"{TIME}"}}</script>', "", TIME, "script"),
    ("", f"{H1}<p>March 5, 2024</p>", DAY, "near-heading"),
    ("", f"<p>March 5, 2024</p>{H1}", DAY, "near-heading"),
    ("", f"{H1}<p>Updated: April 1, 2024</p><p>March 5, 2024</p>", DAY, "near-heading"),
    ("", f"{H1}<p>Last updated: March 5, 2024</p>", DAY, "near-heading"),
    ("", f"{H1}{'<p>' + 'Rain. ' * 40 + '</p>'}" * 3 + "<p>March 5, 2024</p>", DAY, "text"),
]
OTHER_FIELDS = [
    ("modified", json_ld(dateModified=TIME), "", TIME, "json-ld"),
    ("modified", meta("article:modified_time", TIME), "", TIME, "meta"),
    ("modified", "", f"<time class=updated datetime={DAY}>", DAY, "time"),
    ("modified", "", f"{H1}<p>Updated: March 5, 2024</p>", DAY, "near-heading"),
    ("modified", "", f"<time pubdate datetime={DAY}>", None, None),
    ("description", meta("og:description", "It rains."), "", "It rains.", "opengraph"),
    ("description", meta("description", "It rains."), "", "It rains.", "meta"),
    ("description", json_ld(description="It rains."), "", "It rains.", "json-ld"),
    ("site_name", SITE, "", "The Daily News", "opengraph"),
    ("site_name", json_ld(publisher={"name": "Daily"}), "", "Daily", "json-ld"),
    ("canonical_url", "<link rel=canonical href=/a>", "", f"{SITE_URL}/a", "link"),
    ("canonical_url", "<link rel=canonical href=/>", "", None, None),
    ("canonical_url", "<link rel=canonical href=ftp://x/>", "", None, None),
    ("canonical_url", meta("og:url", URL), "", URL, "opengraph"),
    ("main_image", meta("og:image", "/i.png"), "", f"{SITE_URL}/i.png", "opengraph"),
    ("main_image", json_ld(image=[{"url": "/i"}]), "", f"{SITE_URL}/i", "json-ld"),
    ("main_image", meta("og:image", "data:image/png;base64,AA"), "", None, None),
    (
        "main_image",
        "<base href=https://c.example/b/><link rel=image_src href=i>",
        "",
        "https://c.example/b/i",
        "link",
    ),
    ("section", meta("article:section", "Weather"), "", "Weather", "opengraph"),
    ("section", json_ld(articleSection=["Weather", "News"]), "", "Weather", "json-ld"),
    ("section", meta("article:section", "https://social.example/weather"), "", None, None),
    ("section", meta("article:section", "Rain fell in all of the country " * 3), "", None, None),
    ("section", meta("og:section", "Weather"), "", None, None),
    ("tags", 2 * meta("article:tag", "Rain"), "", ["Rain"], "opengraph"),
    ("tags", json_ld(keywords="rain, May; rain ,Storms"), "", ["rain", "May", "Storms"], "json-ld"),
    ("tags", json_ld(keywords=["rain", "Rain", "#May"]), "", ["rain", "May"], "json-ld"),
    ("tags", meta("keywords", "rain،storm、雨"), "", ["rain", "storm", "雨"], "meta"),
    ("tags", "", "<a rel=tag>Rain</a> <a rel='tag'>May</a>", ["Rain", "May"], "rel-tag"),
    ("tags", "", "<a rel=stage href=/r>Rain</a>", None, None),
    ("tags", json_ld(keywords=["locale: US", "type: text", "rain"]), "", ["rain"], "json-ld"),
    ("tags", json_ld(keywords=["Up: Rain", "May"]), "", ["Up: Rain", "May"], "json-ld"),
    ("tags", json_ld(keywords="26157981-b4f7-4929-adc1-e860c6f03636, 2024"), "", None, None),
]
NO_DATES = ["", "<p>March 5, 2024</p>" + "<p>x</p>" * 20 + H1, f"{H1}<p>In 2024 or 2025</p>"]


CASES = [
    *(("title", SITE + head, body, "Rain falls in May", source) for head, body, source in TITLES),
    *(("authors", SITE + head, body, ["Ann Lee"], source) for head, body, source in AUTHORS),
    *(("published", *row) for row in PUBLISHED),
    *OTHER_FIELDS,
]


@pytest.mark.parametrize("case", CASES)
def test_fields_and_their_sources(case: tuple[str, str, str, object, str | None]) -> None:
    name, head, body, expected, source = case

    found = read(head, body)

    assert (found.values.get(name), found.sources.get(name)) == (expected, source)


@pytest.mark.parametrize(("head", "body"), NO_AUTHORS)
def test_other_names_are_not_authors(head: str, body: str) -> None:
    assert read_page(SITE + head, body).authors == []


def test_the_site_is_the_author_if_there_is_no_other() -> None:
    found = read_page(SITE + json_ld(author={"name": "The Daily News"}))

    assert found.authors == ["The Daily News"]


@pytest.mark.parametrize("body", NO_DATES)
def test_other_dates_are_not_publication_dates(body: str) -> None:
    assert read_page(body=body).published is None


def test_a_visible_date_must_not_contradict_the_url() -> None:
    body = f"{H1}<time datetime=2024-04-01></time>"
    source = f"<html><body>{body}</body></html>"

    near = metadata.read_html(source, "https://x.example/2024/03/31/rain")
    far = metadata.read_html(source, "https://x.example/2024/03/05/rain")

    assert (near.values["published"], near.sources["published"]) == ("2024-04-01", "time")
    assert (far.values["published"], far.sources["published"]) == ("2024-03-05", "url")


@pytest.mark.parametrize(("language", "expected"), [("en-GB", "2024-03-05"), ("en", None)])
def test_numeric_dates_are_read_in_the_language_of_the_page(
    language: str, expected: str | None
) -> None:
    assert read_page(meta("date", "05/03/2024"), language=language).published == expected


@pytest.mark.parametrize(
    ("language", "head", "expected", "source"),
    [
        ("de-AT", "", "de", "html"),
        ("", json_ld(inLanguage={"name": "German", "alternateName": "de"}), "de", "json-ld"),
        ("", meta("og:locale", "de_DE"), "de", "meta"),
        ("und", "<meta http-equiv=Content-Language content=de>", "de", "meta"),
        ("", "", None, None),
    ],
)
def test_languages_and_their_sources(
    language: str, head: str, expected: str | None, source: str | None
) -> None:
    found = read(head, language=language)

    assert (found.values.get("language"), found.sources.get("language")) == (expected, source)


@pytest.mark.parametrize("source", ["", " ", "\0", "<!-- -->", "a", "<", "\ud800", "<?xml?>"])
def test_an_empty_page_has_no_metadata(source: str) -> None:
    assert metadata.read_html(source, URL) == ({}, {}, [], "", ())


@pytest.mark.parametrize("url", [None, "", "nonsense", "http://[", "file:///a.html"])
def test_a_page_without_a_usable_url_is_read(url: str | None) -> None:
    found = metadata.read_html("<link rel=canonical href=/a><h1>Rain falls</h1>", url)

    assert found.values == {"title": "Rain falls"}


def test_labels_of_the_public_suffix_do_not_name_the_site() -> None:
    source = "<title>Rain falls in May | co</title>"

    titles = [
        metadata.read_html(source, url).values["title"]
        for url in ("https://www.dailynews.co.uk/a", "https://www.co.example/a")
    ]

    assert titles == ["Rain falls in May | co", "Rain falls in May"]


# Sections, tags, paywalls, trails and declared media


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
        (json_ld(isAccessibleForFree=True), "", True),
        (json_ld(isAccessibleForFree=False), "", False),
        (json_ld(isAccessibleForFree="False"), "", False),
        (json_ld(isAccessibleForFree="https://schema.org/True"), "", True),
        (json_ld(hasPart=PART), "", False),
        (json_ld(hasPart=[{"@type": "WebPageElement", "isAccessibleForFree": True}]), "", None),
        (json_ld(isAccessibleForFree=True, hasPart=PART), "", True),
        (graph({"@type": "WebPage", "isAccessibleForFree": "false"}), "", False),
        (meta("article:content_tier", "locked"), "", False),
        (meta("article:content_tier", "metered"), "", None),
        ("", "<meta itemprop=isAccessibleForFree content=False>", False),
        ("", "<p>Subscribe to continue reading.</p>", None),
        (json_ld(isAccessibleForFree={"@value": 3}), "", None),
    ],
)
def test_paywalls_are_read_from_markup_and_not_from_phrases(
    head: str, body: str, *, free: bool | None
) -> None:
    assert read_page(head, body).is_accessible_for_free is free


def crumb(position: object, name: object, item: object = None) -> dict[str, object]:
    return {"@type": "ListItem", "position": position, "name": name, "item": item}


HOME = {"name": "Home", "url": f"{SITE_URL}/"}


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([crumb(2, "Weather"), crumb(1, "Home", "/")], [HOME, {"name": "Weather", "url": ""}]),
        ([crumb("1", None, {"@id": "/", "name": "Home"})], [HOME]),
        ([crumb(1, "Home", {"url": "/"}), crumb(None, "A")], [HOME, {"name": "A", "url": ""}]),
        ([crumb(1, "Home", "javascript:go()")], [{"name": "Home", "url": ""}]),
        ([crumb(10**400, 7), "Home", None, 3], []),
    ],
)
def test_a_trail_begins_at_the_front_page(
    items: list[object], expected: list[dict[str, str]]
) -> None:
    trail = {"@type": "BreadcrumbList", "itemListElement": items}

    assert read_page(graph(trail)).breadcrumbs == expected
    assert read_page(graph({"@type": "WebPage", "breadcrumb": trail})).breadcrumbs == expected


def test_the_length_of_a_trail_is_bounded() -> None:
    items = [crumb(n, f"Step {n}") for n in range(1_000)]
    trail = {"@type": "BreadcrumbList", "itemListElement": items}

    assert len(read_page(graph(trail)).breadcrumbs) == MAX_CRUMBS


def test_declared_media_are_those_of_the_article() -> None:
    player = "https://player.example/1"
    video = {"name": "Rain in motion", "contentUrl": "/rain.mp4", "embedUrl": player}
    audio = {"@type": "AudioObject", "contentUrl": "https://cdn.example/rain.mp3?x=1"}
    other = {"@type": "VideoObject", "contentUrl": "https://cdn.example/other.mp4"}
    head = (
        json_ld(video=video, associatedMedia=[audio])
        + graph(other)
        + meta("og:image", "/rain.jpg")
        + meta("og:image:alt", "A wet street")
        + meta("og:video", "https://player.example/og")
    )

    found = read(head).media

    assert [(each.kind, each.url, each.caption, each.alt, each.is_file) for each in found] == [
        (IMAGE, f"{SITE_URL}/rain.jpg", "", "A wet street", True),
        (VIDEO, f"{SITE_URL}/rain.mp4", "Rain in motion", "", True),
        (AUDIO, "https://cdn.example/rain.mp3?x=1", "", "", True),
    ]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (meta("og:video", "https://player.example/og"), [(VIDEO, False)]),
        (meta("og:video:url", "https://cdn.example/a.mp4"), [(VIDEO, True)]),
        (json_ld(video={"@type": "VideoObject", "contentUrl": "data:video/mp4,x"}), []),
        (json_ld(video=["https://cdn.example/a.mp4", 3, None]), []),
        (meta("og:image", "/images/site-logo.png"), []),
    ],
)
def test_players_are_not_files_and_logos_are_not_images(
    head: str, expected: list[tuple[str, bool]]
) -> None:
    assert [(each.kind, each.is_file) for each in read(head).media] == expected


# The documentation shows the table of sources

PAGE = Path(__file__).parents[2] / "docs" / "metadata.md"


def table() -> Iterator[str]:
    yield "| field | sources, in order, with their keys |"
    yield "| --- | --- |"
    for name, field in FIELDS.items():
        yield f"| `{name}` | {'; '.join(map(shown, field.sources))} |"


def shown(source: FieldSource) -> str:
    keys = ", ".join(f"`{key}`" for key in source.keys)
    return f"{source.name}: {keys}" if keys else source.name


def test_documentation_shows_the_table_of_sources() -> None:
    expected = "\n".join(table())

    text = PAGE.read_text(encoding="utf-8")
    assert expected in text, f"docs/metadata.md must contain:\n{expected}"
    in_one_line = " ".join(text.split())
    assert [n for n, what in SOURCES.items() if f"`{n}` ({what})" not in in_one_line] == []
