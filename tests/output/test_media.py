"""Which addresses are files, and which pictures are the same."""

from __future__ import annotations

import pytest

from scrapy_mss.output.media import (
    AUDIO,
    IMAGE,
    MAX_MEDIA,
    VIDEO,
    Medium,
    is_junk,
    media_fields,
    picture,
)

CDN = "https://cdn.example"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"{CDN}/2024/ferry-at-dawn.jpg", f"{CDN}/2024/ferry-at-dawn-1024x683.jpg"),
        (f"{CDN}/2024/ferry-at-dawn.jpg?w=300", f"{CDN}/2024/ferry-at-dawn.jpg?w=1200"),
        (f"{CDN}/w_300/ferry-at-dawn.jpg", f"{CDN}/w_900/ferry-at-dawn.webp"),
        (f"{CDN}/7/1200.jpg?q=1", f"{CDN}/7/1200.jpg?q=2"),
    ],
)
def test_sizes_of_a_picture_are_the_same_picture(one: str, other: str) -> None:
    assert picture(one) == picture(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"{CDN}/2024/ferry-at-dawn.jpg", f"{CDN}/2024/ferry-at-noon.jpg"),
        (f"{CDN}/7/1200.jpg", f"{CDN}/8/1200.jpg"),
        (f"{CDN}/7/image.jpg", f"{CDN}/8/image.jpg"),
    ],
)
def test_short_names_are_no_sign_of_one_picture(one: str, other: str) -> None:
    assert picture(one) != picture(other)


@pytest.mark.parametrize(
    ("name", "junk"),
    [
        ("logo.png", True),
        ("site_Logo-2.PNG", True),
        ("map.svg", True),
        ("spacer.gif", True),
        ("logotherapist.jpg", False),
        ("pixelated-mayor.jpg", False),
        ("ferry.jpg", False),
        ("[", False),
    ],
)
def test_junk_says_so_in_the_name_of_its_file(name: str, *, junk: bool) -> None:
    assert is_junk(f"{CDN}/logo/{name}") is junk


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


def test_there_are_not_too_many() -> None:
    fields = media_fields(Medium(IMAGE, f"{CDN}/{n}.jpg") for n in range(5_000))

    assert len(fields["media"]) == len(fields["image_urls"]) == MAX_MEDIA
