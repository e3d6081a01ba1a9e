"""Each layout as a tiny folder of our own pages, and each way in which a record is broken."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from research.datasets.pages import Broken, LabelledPage
from research.datasets.readers import READERS, decoded, optional_golds
from research.errors import UserError
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


def plain(path: Path) -> Path:
    return path


def gzipped(path: Path) -> Path:
    return put(path.with_suffix(".jsonl.gz"), path.read_bytes())


def xzipped(path: Path) -> Path:
    packed = path.with_suffix(".jsonl.xz")
    packed.write_bytes(lzma.compress(path.read_bytes()))
    return packed


@pytest.mark.parametrize("packed", [plain, gzipped, xzipped])
def test_jsonl_gives_back_the_pages(tmp_path: Path, packed: Callable[[Path], Path]) -> None:
    given = pages(sites=2)

    path = packed(write_jsonl(tmp_path / "set.jsonl", map(record, given)))

    assert read("jsonl", path) == list(given)


def test_an_author_is_a_text_or_a_list_of_texts(tmp_path: Path) -> None:
    authors = ["Ann Lee", ["Ann Lee", "Bo Ek"], None]
    lines = [record(page(n)) | {"author": author} for n, author in enumerate(authors)]

    found = read("jsonl", write_jsonl(tmp_path / "set.jsonl", lines))

    assert [each.authors for each in found if isinstance(each, LabelledPage)] == [
        ("Ann Lee",),
        ("Ann Lee", "Bo Ek"),
        (),
    ]


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


def test_a_line_that_is_no_object_is_named(tmp_path: Path) -> None:
    path = put(tmp_path / "set.jsonl", b'[1]\n\n{"id": \n\xff\n')

    found = [str(each) for each in read("jsonl", path)]

    assert found[0] == "set.jsonl:1: line: expected an object, got list [1]"
    assert found[1].startswith("set.jsonl:3: line: not JSON")
    assert found[2].startswith("set.jsonl:4: line: not JSON")


def test_a_truncated_archive_is_an_error(tmp_path: Path) -> None:
    path = xzipped(write_jsonl(tmp_path / "set.jsonl", map(record, pages(3))))
    path.write_bytes(path.read_bytes()[:-20])

    with pytest.raises(UserError, match=r"set\.jsonl\.xz cannot be read"):
        read("jsonl", path)


def test_scrapinghub(tmp_path: Path) -> None:
    truth = {"ab": {"articleBody": "Es regnet.", "url": URL}, "cd": {"articleBody": ""}}
    put(tmp_path / "ground-truth.json", truth)
    put(tmp_path / "html/ab.html.gz", HTML)
    put(tmp_path / "html/cd.html.gz", "<p>")

    first, second = read("scrapinghub", tmp_path)

    site = "example.co.uk"
    assert first == LabelledPage("ab", site, HTML, ("Es regnet.",), URL, "de-at", "article")
    assert second == LabelledPage("cd", "cd", "<p>", ("",), page_type="article")


def test_scrapinghub_names_what_is_broken(tmp_path: Path) -> None:
    truth = {"a": {"url": URL}, "b": {"articleBody": "x"}, "c": {"articleBody": "x"}, "d": 4}
    put(tmp_path / "ground-truth.json", truth)
    (put(tmp_path / "html/c.html.gz", HTML)).write_bytes(b"no gzip")

    found = [str(each) for each in read("scrapinghub", tmp_path)]

    assert found[0] == "ground-truth.json[a]: articleBody: expected a text, got nothing"
    assert found[1] == "ground-truth.json[b]: html: there is no html/b.html.gz"
    assert found[2].startswith("ground-truth.json[c]: html: c.html.gz cannot be read")
    assert found[3] == "ground-truth.json[d]: entry: expected an object, got int 4"


@pytest.mark.parametrize("kind", ["scrapinghub", "fundus-evaluation", "wcxb"])
def test_a_folder_of_another_layout_is_an_error(tmp_path: Path, kind: str) -> None:
    with pytest.raises(UserError, match="ground"):
        read(kind, tmp_path)


def test_a_ground_truth_that_is_no_json_is_an_error(tmp_path: Path) -> None:
    put(tmp_path / "ground-truth.json", "{")

    with pytest.raises(UserError, match="not JSON"):
        read("scrapinghub", tmp_path)


WCXB_GOLD = {"title": "Wetter", "main_content": "Es regnet."}


@pytest.mark.parametrize(
    ("truth", "golds", "page_type"),
    [
        (
            {"ground_truth": WCXB_GOLD, "_internal": {"page_type": {"primary": "forum"}}},
            ("Es regnet.", "Wetter\n\nEs regnet."),
            "forum",
        ),
        (
            {"main_content": "Es regnet.", "page_type": "category"},
            ("Es regnet.",),
            "collection",
        ),
        (
            {"ground_truth": {"title": "Es", "main_content": "Es regnet."}},
            ("Es regnet.",),
            "article",
        ),
    ],
    ids=["as published", "all on top", "no type"],
)
def test_wcxb(
    tmp_path: Path, truth: dict[str, object], golds: tuple[str, ...], page_type: str
) -> None:
    put(tmp_path / "dev/ground-truth/0001.json", truth | {"url": URL})
    put(tmp_path / "dev/html/0001.html.gz", HTML)

    found = read("wcxb", tmp_path / "dev")

    assert found == [LabelledPage("0001", "example.co.uk", HTML, golds, URL, "de-at", page_type)]


def test_wcxb_wants_one_split(tmp_path: Path) -> None:
    (tmp_path / "test/ground-truth").mkdir(parents=True)

    with pytest.raises(UserError, match=r"name the split: .*test"):
        read("wcxb", tmp_path)


def test_wcxb_names_what_is_broken(tmp_path: Path) -> None:
    put(tmp_path / "ground-truth/1.json", "{")
    put(tmp_path / "ground-truth/2.json", {"ground_truth": None})

    found = [str(each) for each in read("wcxb", tmp_path)]

    assert found[0].startswith("ground-truth/1.json: file: not JSON")
    assert found[1] == "ground-truth/2.json: main_content: expected a text, got nothing"


@pytest.mark.parametrize("folder", ["dataset", "."])
def test_fundus_evaluation(tmp_path: Path, folder: str) -> None:
    body = ["Es regnet.", "[Mehr dazu.]", ["Und morgen?"]]
    put(tmp_path / folder / "ground_truth.json", {"Zeitung_0.html.gz": {"url": URL, "body": body}})
    put(tmp_path / folder / "html/Zeitung_0.html.gz", HTML)

    (found,) = read("fundus-evaluation", tmp_path)

    golds = ("Es regnet.\n\nUnd morgen?", "Es regnet.\n\nMehr dazu.\n\nUnd morgen?")
    assert found == LabelledPage("Zeitung_0", "example.co.uk", HTML, golds, URL, "de-at", "article")


def test_fundus_evaluation_names_a_missing_body(tmp_path: Path) -> None:
    put(tmp_path / "ground_truth.json", {"Zeitung_0.html.gz": {"url": URL}})

    (found,) = read("fundus-evaluation", tmp_path)

    where = "ground_truth.json[Zeitung_0.html.gz]"
    assert found == Broken(where, "body", "expected paragraphs, got nothing")


def test_every_choice_of_few_optional_paragraphs_is_right() -> None:
    assert optional_golds(["[a]", "b", "[c]"]) == ("b", "a\n\nb", "b\n\nc", "a\n\nb\n\nc")


def test_of_many_optional_paragraphs_all_or_none_are_right() -> None:
    assert optional_golds(["[a]", "[b]", "[c]", "[d]"]) == ("", "a\n\nb\n\nc\n\nd")


GOLD = "URL: https://www.news.example.co.uk/a\n\n<h>Wetter\n<p>Es\nregnet.\n<l>Heute\n"


@pytest.mark.parametrize(
    ("html", "gold"),
    [
        ("7.html", "7.txt"),
        ("7.html", "7-cleaned.txt"),
        ("finalrun-input/7.html", "GoldStandard/7.txt"),
        ("en_original/7.html", "en_cleaned/7-cleaned.txt"),
    ],
)
def test_cleaneval(tmp_path: Path, html: str, gold: str) -> None:
    put(tmp_path / html, HTML)
    put(tmp_path / gold, GOLD)

    found = read("cleaneval", tmp_path)

    text = "Wetter\n\nEs regnet.\n\nHeute"
    assert found == [LabelledPage("7", "example.co.uk", HTML, (text,), URL, "de-at")]


def test_cleaneval_prefers_the_cleaned_text(tmp_path: Path) -> None:
    for name, text in {
        "7.html": HTML,
        "7.txt": "Menu Es regnet.",
        "7-cleaned.txt": "Es\n\nja",
    }.items():
        put(tmp_path / name, text)

    (found,) = read("cleaneval", tmp_path)

    assert isinstance(found, LabelledPage)
    assert found.golds == ("Es\n\nja",)
    assert found.url is None


def test_cleaneval_names_a_page_without_a_gold_and_one_with_two(tmp_path: Path) -> None:
    for name in ("1.html", "2.html", "a/2.txt", "b/2.txt"):
        put(tmp_path / name, "text")

    found = [str(each) for each in read("cleaneval", tmp_path)]

    expected = "gold: expected one {0}.txt or {0}-cleaned.txt, found in: "
    assert found[0] == f"1.html: {expected.format(1)}none"
    assert found[1] == f"2.html: {expected.format(2)}a, b"


def test_an_empty_page_is_broken(tmp_path: Path) -> None:
    put(tmp_path / "1.html", " \n")
    put(tmp_path / "1.txt", "text")

    (found,) = read("cleaneval", tmp_path)

    assert found == Broken("1.html", "html", "expected a page, got an empty file")


def test_a_page_is_decoded_whatever_it_declares() -> None:
    cases = [
        (b"\xef\xbb\xbfgr\xc3\xbcn", "grün"),
        (b'<meta charset="iso-8859-2">\xb1', '<meta charset="iso-8859-2">ą'),
        (b'<meta charset="no-such">\xfc', '<meta charset="no-such">ü'),
        (b'<meta charset="rot13">\xfc', '<meta charset="rot13">ü'),
        (b"gr\xfcn \x93", "grün “"),
    ]

    assert [(data, decoded(data)) for data, _ in cases] == cases
