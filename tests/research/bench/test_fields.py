from __future__ import annotations

import itertools
import json
import lzma
import math
import sys
from pathlib import Path

import pytest

from research.bench import cli, field_libraries, fields
from research.datasets.pages import LabelledPage
from research.errors import UserError

HTML = """<html><head><title>Rain falls in May</title></head><body><h1>Rain falls in May</h1>
<p>By Ann Lee</p><p>March 5, 2024</p></body></html>"""


_IDS = map(str, itertools.count())


def record(site: str, **values: object) -> dict[str, object]:
    known = {"title": "Rain falls in May", "author": ["Ann Lee"], "date": "2024-03-05"}
    return {
        "id": next(_IDS),
        "golds": [""],
        "url": f"https://{site}/a",
        "site": site,
        "html": HTML,
        **known,
        **values,
    }


def write(folder: Path, name: str, records: list[dict[str, object]]) -> None:
    with lzma.open(folder / f"{name}.jsonl.xz", "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(each) + "\n" for each in records)


SITES = [f"site{number}.com" for number in range(12)]
TUNED = [site for site in SITES if fields.is_tuned(site)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "articles_rules", [record(site) for site in SITES])
    write(tmp_path, "articles_wcxb", [record(TUNED[0]), record("other.com")])
    return tmp_path


def test_the_sites_that_were_looked_at_are_kept_apart(folder: Path) -> None:
    tuned = fields.load_pages(folder, tuned=True, limit=None)
    held_out = fields.load_pages(folder, tuned=False, limit=None)

    assert 0 < len(TUNED) < len(SITES)
    assert [page.site for page in tuned] == [*TUNED, TUNED[0]]
    assert {page.site for page in held_out} == {*SITES, "other.com"} - {*TUNED}
    assert len(fields.load_pages(folder, tuned=False, limit=2)) == 3


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Rain “falls” – in May", 'RAIN "falls" - in May', True),  # noqa: RUF001
        ("Rain falls", "Rain fell", False),
        ("Café", "Cafe", False),
    ],
)
def test_titles_are_compared_by_letters(one: str, other: str, same: bool) -> None:  # noqa: FBT001
    assert (fields.title_key(one) == fields.title_key(other)) == same


def test_authors_are_compared_as_sets() -> None:
    cases = [
        (["Ann Lee", "Bo Ek"], {"ann lee", "bo ek"}),
        (["By ANN LEE, MD and Bo Ék"], {"ann lee", "bo ek"}),
        (["Ann Lee (https://x.example) | ann@x.example"], {"ann lee"}),
        ([""], set[str]()),
    ]

    assert [(texts, set(fields.author_keys(texts))) for texts, _ in cases] == cases


def test_a_day_is_that_of_the_place_or_of_utc() -> None:
    cases = [
        ("2024-03-05", {"2024-03-05"}),
        ("2024-03-05T23:30:00", {"2024-03-05"}),
        ("2024-03-05 23:30:00.123-05:00", {"2024-03-05", "2024-03-06"}),
        ("2024-03-05T23:30:00Z", {"2024-03-05"}),
        ("", set[str]()),
        ("in May", set[str]()),
    ]

    assert [(text, set(fields.days(text))) for text, _ in cases] == cases


def test_an_empty_answer_is_wrong_and_an_unknown_gold_is_no_page() -> None:
    known = fields.Known("rain", frozenset({"ann lee"}), frozenset())

    scores = fields.score(known, field_libraries.Answer("", (), "", 1, 1))

    assert (scores["exact"], scores["author_f1"], scores["date_there"]) == (0, 0, 0)
    assert math.isnan(scores["author_p"])
    assert math.isnan(scores["date"])


def test_the_table_is_printed_and_written(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "fields.md"

    code = cli.main(
        ["fields", "--data", str(folder), "--libraries", "scrapy-mss", "--markdown", str(file)]
    )

    text = file.read_text(encoding="utf-8")
    assert code == 0
    assert capsys.readouterr().out.strip() == text.strip()
    row = next(line for line in text.splitlines() if line.startswith("| scrapy-mss"))
    assert row.split(" | ")[1].startswith("1.000")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "nowhere", "--libraries", "scrapy-mss"], "has none of articles_fundus"),
        (["--data", "nowhere", "--libraries", "x"], "'x' is unknown"),
    ],
)
def test_faults_of_the_user_are_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["fields", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_library_that_is_not_installed_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "newspaper.parsers", None)

    assert cli.main(["fields", "--data", str(folder), "--libraries", "newspaper4k"]) == 2
    assert "make research" in capsys.readouterr().err


def test_a_page_that_a_library_fails_on_is_an_empty_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refuse(_: str) -> object:
        raise UserError("no")

    page = LabelledPage("site0", "site0.com", HTML, ("",))
    library = field_libraries.Library("bad", refuse, lambda *_: (None, (), None))

    answer = field_libraries.ask(library, page)

    assert (answer.title, answer.authors, answer.date) == ("", (), "")
    assert "UserError" in capsys.readouterr().err
