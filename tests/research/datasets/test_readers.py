"""Each layout as a tiny folder of our own pages, and each way in which a record is broken."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from research.datasets.pages import Broken, LabelledPage
from research.datasets.readers import READERS, optional_golds
from tests.research.bench.fakes import page, pages, record, write_jsonl

HTML = '<html lang="de-AT"><p>Es regnet.</p>'
URL = "https://www.news.example.co.uk/a"


def read(kind: str, path: Path) -> list[LabelledPage | Broken]:
    return list(READERS[kind](path))


def put(path: Path, content: object) -> Path:
    """Write text, bytes or JSON, with the folders on the way and compressed as the name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str | bytes) else json.dumps(content)
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["set.jsonl", "set.jsonl.gz"])
def test_jsonl_gives_back_the_pages(tmp_path: Path, name: str) -> None:
    given = pages(sites=2)

    content = write_jsonl(tmp_path / "plain", map(record, given)).read_bytes()

    assert read("jsonl", put(tmp_path / name, content)) == list(given)


def test_jsonl_takes_the_site_from_the_url_and_else_the_id(tmp_path: Path) -> None:
    bare = {"id": "1", "html": HTML, "golds": ["Es regnet."]}

    found = read("jsonl", write_jsonl(tmp_path / "set.jsonl", [bare | {"url": URL}, bare]))

    assert found[0] == LabelledPage("1", "example.co.uk", HTML, ("Es regnet.",), URL)
    assert found[1] == LabelledPage("1", "1", HTML, ("Es regnet.",))


@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        ({"id": None}, "id", "expected a text, got nothing"),
        ({"html": 5}, "html", "expected a text, got int 5"),
        ({"html": " "}, "html", "expected a text, got an empty one"),
        ({"golds": []}, "golds", "expected a list of texts, got list []"),
        ({"golds": "text"}, "golds", "expected a list of texts, got str 'text'"),
        ({"golds": [None]}, "golds", "expected texts in the list, got nothing"),
        ({"author": [5]}, "author", "expected a text or a list of texts, got list [5]"),
        ({"lang": ["en"]}, "lang", "expected a text or null, got list ['en']"),
    ],
)
def test_a_broken_field_is_named_with_its_line(
    tmp_path: Path, change: dict[str, object], field: str, reason: str
) -> None:
    path = write_jsonl(tmp_path / "set.jsonl", [record(page(1)), record(page(2)) | change])

    assert read("jsonl", path) == [page(1), Broken("set.jsonl:2", field, reason)]


def test_scrapinghub(tmp_path: Path) -> None:
    truth = {"ab": {"articleBody": "Es regnet.", "url": URL}, "cd": {"articleBody": ""}}
    put(tmp_path / "ground-truth.json", truth)
    put(tmp_path / "html/ab.html.gz", HTML)
    put(tmp_path / "html/cd.html.gz", "<p>")

    first, second = read("scrapinghub", tmp_path)

    site = "example.co.uk"
    assert first == LabelledPage("ab", site, HTML, ("Es regnet.",), URL, "de-at", "article")
    assert second == LabelledPage("cd", "cd", "<p>", ("",), page_type="article")


WCXB_GOLD = {"title": "Wetter", "main_content": "Es regnet."}


@pytest.mark.parametrize(
    ("truth", "golds", "page_type"),
    [
        (
            {"ground_truth": WCXB_GOLD, "_internal": {"page_type": {"primary": "forum"}}},
            ("Es regnet.", "Wetter\n\nEs regnet."),
            "forum",
        ),
        ({"main_content": "Es regnet.", "page_type": "category"}, ("Es regnet.",), "collection"),
    ],
    ids=["as published", "all on top"],
)
def test_wcxb(
    tmp_path: Path, truth: dict[str, object], golds: tuple[str, ...], page_type: str
) -> None:
    put(tmp_path / "dev/ground-truth/0001.json", truth | {"url": URL})
    put(tmp_path / "dev/html/0001.html.gz", HTML)

    found = read("wcxb", tmp_path / "dev")

    assert found == [LabelledPage("0001", "example.co.uk", HTML, golds, URL, "de-at", page_type)]


def test_fundus_evaluation(tmp_path: Path) -> None:
    body = ["Es regnet.", "[Mehr dazu.]", ["Und morgen?"]]
    put(
        tmp_path / "dataset" / "ground_truth.json",
        {"Zeitung_0.html.gz": {"url": URL, "body": body}},
    )
    put(tmp_path / "dataset/html/Zeitung_0.html.gz", HTML)

    (found,) = read("fundus-evaluation", tmp_path)

    golds = ("Es regnet.\n\nUnd morgen?", "Es regnet.\n\nMehr dazu.\n\nUnd morgen?")
    assert found == LabelledPage("Zeitung_0", "example.co.uk", HTML, golds, URL, "de-at", "article")


def test_every_choice_of_few_optional_paragraphs_is_right() -> None:
    assert optional_golds(["[a]", "b", "[c]"]) == ("b", "a\n\nb", "b\n\nc", "a\n\nb\n\nc")


GOLD = "URL: https://www.news.example.co.uk/a\n\n<h>Wetter\n<p>Es\nregnet.\n<l>Heute\n"


@pytest.mark.parametrize(
    ("html", "gold"), [("7.html", "7.txt"), ("en_original/7.html", "en_cleaned/7-cleaned.txt")]
)
def test_cleaneval(tmp_path: Path, html: str, gold: str) -> None:
    put(tmp_path / html, HTML)
    put(tmp_path / gold, GOLD)

    found = read("cleaneval", tmp_path)

    text = "Wetter\n\nEs regnet.\n\nHeute"
    assert found == [LabelledPage("7", "example.co.uk", HTML, (text,), URL, "de-at")]
