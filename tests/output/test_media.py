"""What a page shows in its article; each picture with a near miss; which pictures are the same."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.output.media import (
    AUDIO,
    IMAGE,
    MAX_DEPTH,
    MAX_LOOKED_AT,
    MAX_MEDIA,
    VIDEO,
    Medium,
    kept_media,
    media_fields,
    picture,
)
from scrapy_mss.pages.tree import PageTree
from tests.helpers.timing import FACTOR, grows_linearly

URL = "https://news.example/2024/ferry.html"
CDN = "https://cdn.example"


def shown(inside: str, lead: str = "") -> list[Medium]:
    """The media of a page with *inside* between two kept paragraphs."""
    source = (
        f"<html><body><header><img src={CDN}/a.jpg></header><h1>Ferry</h1>{lead}<div>"
        f"<p>kept one</p>{inside}<p>kept two</p></div>"
        f"<section><img src={CDN}/below.jpg></section></body></html>"
    )
    tokens = tokenize(source)
    texts = [source[a:b] for a, b in zip(tokens.start.tolist(), tokens.end.tolist(), strict=True)]
    is_kept = [text in ("kept", "one", "two") for text in texts]
    return kept_media(PageTree(tokens), np.array(is_kept, np.bool_), URL)


def urls(inside: str, lead: str = "") -> list[str]:
    return [each.url for each in shown(inside, lead)]


FIGURE = "<figure><img src=ferry.jpg alt='A  ship'><figcaption>The <b>ferr</b>y &amp; its crew."


def test_a_figure_has_its_caption_and_alternative_text() -> None:
    assert shown(f"{FIGURE}</figcaption></figure>") == [
        Medium(IMAGE, "https://news.example/2024/ferry.jpg", "The ferry & its crew.", "A ship")
    ]


@pytest.mark.parametrize(
    "inside",
    [
        f"<img src={CDN}/x.jpg><p class='wp-caption-text'>The ferry</p>",
        f"<div><img src={CDN}/x.jpg></div><div class='image-caption'><span>The</span> ferry</div>",
        f"<figure><figcaption>The ferry</figcaption><img src={CDN}/x.jpg></figure>",
    ],
)
def test_what_is_called_a_caption_is_one(inside: str) -> None:
    assert [each.caption for each in shown(inside)] == ["The ferry"]


def test_the_caption_of_the_next_picture_is_not_that_of_the_first() -> None:
    inside = f"<img src={CDN}/x.jpg><img src={CDN}/y.jpg><p class=caption>The ferry</p>"

    assert [each.caption for each in shown(inside)] == ["", "The ferry"]


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("<img src=/x.gif data-src=/ferry.jpg>", "/ferry.jpg"),
        ("<img src='data:image/gif;base64,R0' data-original=/ferry.jpg>", "/ferry.jpg"),
        ("<img src=/s.jpg srcset='/m.jpg 600w, /l.jpg 1200w, /s.jpg 300w'>", "/l.jpg"),
        ("<img src=/s.jpg srcset='/m.jpg 1x,/l.jpg 2x'>", "/l.jpg"),
        (
            "<img src=/s.jpg data-srcset='/w_9,h_9/m.jpg 600w, /w_12,h_9/l.jpg 1200w'>",
            "/w_12,h_9/l.jpg",
        ),
        (
            "<picture><source srcset='/l.webp 12w'><img src=/s.jpg srcset='/m.jpg 6w'></picture>",
            "/l.webp",
        ),
        ("<amp-img src=/ferry.jpg></amp-img>", "/ferry.jpg"),
        ("<img src='/fer\nry.jpg'>", "/ferry.jpg"),
        ("<img srcset='/m.jpg huge, /n.jpg 1e9w' src=/s.jpg>", "/m.jpg"),
    ],
)
def test_the_largest_size_of_a_late_picture_is_found(tag: str, expected: str) -> None:
    assert urls(tag) == [f"https://news.example{expected}"]


@pytest.mark.parametrize(
    ("junk", "sound"),
    [
        ("<img src=/p.jpg width=64>", "<img src=/p.jpg width=640>"),
        ("<img src=/p.jpg height='96px'>", "<img src=/p.jpg height='100%'>"),
        ("<img src=/p.jpg class=author-avatar>", "<img src=/p.jpg class=author-at-sea>"),
        ("<img src=/logo.png>", "<img src=/logo/ferry.png>"),
        ("<img src=/site_Logo-2.PNG>", "<img src=/logotherapist.jpg>"),
        ("<img src=/spacer.gif>", "<img src=/pixelated-mayor.jpg>"),
        ("<img src='data:image/png;base64,R0'>", "<img src=/p.png>"),
        ("<img src='https://[/x.png'>", "<img src='https://x.example/x.png'>"),
        ("<img src=javascript:go()>", "<img src=//x.example/x.png>"),
        ("<img src=/p.svg>", "<img src=/p.jpg>"),
        ("<a href=/other.html><img src=/p.jpg></a>", "<a href=/p-large.jpg><img src=/p.jpg></a>"),
        (
            "<a href=/other.html><img src=/p.jpg></a>",
            f"<a href=/other.html>{FIGURE}</figcaption></figure></a>",
        ),
        (
            "<li><img src=/p.jpg><a href=/o>Five words of a teaser</a></li>",
            "<li><img src=/p.jpg><a href=/o>Ann Lee/AFP</a></li>",
        ),
        (
            "<li><img src=/p.jpg><a href=/o>Five words of a teaser</a></li>",
            "<li><img src=/p.jpg><a href=/o>Five kept words of it</a></li>",
        ),
        ("<aside><img src=/p.jpg></aside>", "<aside>one<img src=/p.jpg></aside>"),
        ("<form><img src=/p.jpg></form>", "<section><img src=/p.jpg></section>"),
    ],
)
def test_junk_is_left_out_and_what_looks_like_it_is_not(junk: str, sound: str) -> None:
    assert (urls(junk), len(urls(sound))) == ([], 1)


def test_only_figures_are_taken_from_the_lead() -> None:
    figure = f"{FIGURE}</figcaption></figure>"

    assert urls("", lead=figure) == ["https://news.example/2024/ferry.jpg"]
    assert urls("", lead="<img src=/p.jpg>") == []


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("<video src=/a.mp4></video>", Medium(VIDEO, "https://news.example/a.mp4")),
        (
            "<video><source src=/a.m3u8><source src=/a.webm></video>",
            Medium(VIDEO, "https://news.example/a.webm"),
        ),
        (
            "<video><source src=/a.m3u8></video>",
            Medium(VIDEO, "https://news.example/a.m3u8", is_file=False),
        ),
        ("<audio><source src=/a.mp3></audio>", Medium(AUDIO, "https://news.example/a.mp3")),
        (
            "<iframe data-src='https://www.youtube.com/embed/x' title='At  sea'></iframe>",
            Medium(VIDEO, "https://www.youtube.com/embed/x", "At sea", is_file=False),
        ),
        (
            "<iframe src='https://w.soundcloud.com/player?u=1'></iframe>",
            Medium(AUDIO, "https://w.soundcloud.com/player?u=1", is_file=False),
        ),
        ("<iframe src='https://maps.example/embed'></iframe>", None),
        ("<video></video>", None),
        ("<video src='blob:https://news.example/1'></video>", None),
    ],
)
def test_players_and_files_are_told_apart(tag: str, expected: Medium | None) -> None:
    assert shown(tag) == ([expected] if expected else [])


def test_an_address_is_decoded_once() -> None:
    addresses = [
        "https://i.example/a;b.jpg?x=1&amp;amp;y=2",
        "https://i.example/a%20b;.jpg?x=&quot;",
    ]

    assert urls("".join(f"<img src='{each}'>" for each in addresses)) == [
        "https://i.example/a;b.jpg?x=1&amp;y=2",
        'https://i.example/a%20b;.jpg?x="',
    ]


def test_without_an_address_relative_ones_are_left_out() -> None:
    source = f"<p>kept<img src=/a.jpg><img src={CDN}/b.jpg>kept</p>"
    tokens = tokenize(source)

    assert [each.url for each in kept_media(PageTree(tokens), ~tokens.is_tag)] == [f"{CDN}/b.jpg"]
    assert kept_media(PageTree(tokens), np.zeros(len(tokens), np.bool_)) == []  # of no text


def test_the_number_of_media_is_bounded() -> None:
    many = "".join(f"<figure><img src=/{n}.jpg></figure>" for n in range(2 * MAX_LOOKED_AT))

    assert len(shown(many)) == MAX_MEDIA
    assert shown("<img src=" + "<" * 50_000) == []
    assert shown("<figure>" * 3_000 + "<img src=/a.jpg>" + "<figcaption>" * 3_000) != []


def test_captions_are_looked_for_in_linear_time() -> None:
    def pictures(n: int) -> Callable[[], list[Medium]]:
        picture = f"<a href=/x><img src=/a.jpg>caption</a>{'<i></i>' * 60}"
        tree = PageTree(tokenize(f"kept{picture * n}kept"))
        return partial(kept_media, tree, ~tree.tokens.is_tag, URL)

    small, large = pictures(MAX_LOOKED_AT // FACTOR), pictures(MAX_LOOKED_AT)

    assert large() == []
    assert grows_linearly(small, large)


def test_few_of_the_boxes_around_a_picture_are_looked_at() -> None:
    def pictures(n_boxes: int) -> Callable[[], list[Medium]]:
        inside = "<img src=/a.jpg>" * 100 + "word " * 20
        page = f"kept{'<div>' * n_boxes}{inside}{'</div>' * n_boxes}kept"
        tokens = tokenize(page)
        kept = np.zeros(len(tokens), np.bool_)
        kept[[0, -1]] = True
        return partial(kept_media, PageTree(tokens), kept, URL)

    small, large = pictures(MAX_DEPTH), pictures(25 * MAX_DEPTH)

    assert large() == []
    assert grows_linearly(small, large)


def test_long_links_around_pictures_are_not_remembered() -> None:
    link = "x" * 100_000
    assert urls(f"<a href={link}><img src=/a.jpg></a>") == []  # which fills tables
    tracemalloc.start()
    for n in range(30):
        urls(f"<a href=/{n}{link}><img src=/a.jpg></a>")
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert kept < 5 * len(link)


def test_captions_have_no_control_characters() -> None:
    text = "The\x07 fer&#7;ry\ud800 &amp;\n sea"
    inside = f"<figure><img src=/a.jpg alt='{text}'><figcaption>{text}</figcaption></figure>"

    (found,) = shown(inside)

    assert found.caption == found.alt
    assert found.caption.isprintable()
    assert found.caption.endswith("& sea")


# Which pictures are the same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2024/ferry-at-dawn.jpg", "2024/ferry-at-dawn-1024x683.jpg", True),
        ("2024/ferry-at-dawn.jpg?w=300", "2024/ferry-at-dawn.jpg?w=1200", True),
        ("w_300/ferry-at-dawn.jpg", "w_900/ferry-at-dawn.webp", True),
        ("7/1200.jpg?q=1", "7/1200.jpg?q=2", True),
        ("2024/ferry-at-dawn.jpg", "2024/ferry-at-noon.jpg", False),
        # Short names are no sign of one picture.
        ("7/1200.jpg", "8/1200.jpg", False),
        ("7/image.jpg", "8/image.jpg", False),
    ],
)
def test_sizes_of_a_picture_are_the_same_picture(one: str, other: str, *, same: bool) -> None:
    assert (picture(f"{CDN}/{one}") == picture(f"{CDN}/{other}")) is same


def test_fields_are_what_the_pipelines_of_scrapy_take() -> None:
    fields = media_fields(
        [
            Medium(IMAGE, f"{CDN}/ferry-at-dawn-1200x630.jpg"),
            Medium(IMAGE, f"{CDN}/ferry-at-dawn.jpg", "The ferry", "A ship"),
            Medium(VIDEO, f"{CDN}/a.mp4"),
            Medium(VIDEO, "https://player.example/a", is_file=False),
            Medium(AUDIO, f"{CDN}/a.mp3"),
        ]
    )

    assert fields["image_urls"] == [f"{CDN}/ferry-at-dawn-1200x630.jpg"]
    assert fields["file_urls"] == [f"{CDN}/a.mp4", f"{CDN}/a.mp3"]
    assert fields["media"][0] == {
        "kind": "image",
        "url": f"{CDN}/ferry-at-dawn-1200x630.jpg",
        "caption": "The ferry",
        "alt": "A ship",
    }
    assert len(fields["media"]) == 4
    many = media_fields(Medium(IMAGE, f"{CDN}/{n}.jpg") for n in range(5_000))
    assert len(many["media"]) == len(many["image_urls"]) == MAX_MEDIA
