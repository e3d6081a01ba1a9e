"""The API of the workbench, over HTTP as its page uses it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.workbench.api import WorkbenchState
from scrapy_mss.workbench.serving import Origins
from tests.helpers.html_payloads import payloads
from tests.helpers.layouts import ODD
from tests.helpers.news_pages import news_page
from tests.helpers.workbenches import SITE, asked, news, request, served, workbench

ATTACK = Path(__file__).resolve().parents[3] / "shared" / "attack"
RULE = f"site: {SITE}\nbody: '#one-body'\n"


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> WorkbenchState:
    pages = [*news(), StoredPage(f"https://{SITE}/empty", ""), StoredPage(f"https://{SITE}/x", "x")]
    return workbench(pages, tmp_path_factory.mktemp("bench"))


@pytest.fixture(scope="module")
def origins(state: WorkbenchState) -> Iterator[Origins]:
    with served(state) as found:
        yield found


def test_a_rule_is_suggested_for_a_site(origins: Origins) -> None:
    found = asked(origins, "open", site=SITE)
    suggested = asked(origins, "suggest", site=SITE)

    assert suggested["rule"].startswith(f"site: {SITE}\naround: ")
    assert suggested["confidence"] > 0.5
    assert found["saved"] is None
    assert len(found["pages"]) == 8
    assert [bool(page["left_out"]) for page in found["pages"]] == [False] * 6 + [True] * 2


def test_rule_and_model_are_compared_page_by_page(origins: Origins) -> None:
    rows: list[dict[str, Any]] = []

    while found := asked(origins, "compare", site=SITE, rule=RULE, first=len(rows))["pages"]:
        rows += found

    assert [row["matched"] for row in rows] == [True] * 6 + [False] * 2
    assert all(row["agreement"] > 0.95 for row in rows[:6])


def test_any_rule_is_evaluated_on_a_page(origins: Origins) -> None:
    found = asked(origins, "evaluate", site=SITE, page=0, rule=RULE)
    nothing = asked(origins, "evaluate", site=SITE, page=0, rule=f"site: {SITE}\nbody: .gone\n")
    empty = asked(origins, "evaluate", site=SITE, page=6, rule=RULE)

    assert found["article"]["text"] == news_page(0).text
    assert "1" in found["inside"]
    assert not nothing["matched"]
    assert "1" not in nothing["inside"]
    assert not empty["matched"]


def test_problems_of_a_rule_are_an_answer(origins: Origins) -> None:
    for name in ("evaluate", "compare", "click", "save"):
        values = {"site": SITE, "page": 0, "first": 0, "role": "body", "block": 0, "run": 0}
        found = asked(origins, name, **values, rule="site: one.example\nbody: 'p['\n")

        assert found["problems"][0]["line"] == 2, name


def test_a_click_is_answered_with_a_rule_or_a_reason(origins: Origins) -> None:
    inside = asked(origins, "evaluate", site=SITE, page=0, rule=RULE)["inside"]
    click = {"site": SITE, "page": 0, "rule": RULE, "role": "body", "run": 0}

    found = asked(origins, "click", **click, block=inside.index("1"))
    again = asked(origins, "click", **click, block=inside.index("1"), level=found["level"])

    assert found["rule"] != RULE
    assert again == found
    assert found["clicked"][0] <= inside.index("1") <= found["clicked"][1]
    assert found["path"]


def test_a_selector_that_fails_on_a_page_is_reported(origins: Origins) -> None:
    fails = "//p[re:test('x', concat('(', string(.)))]"  # an expression that is not closed
    rule = f'{RULE}title: {{xpath: "{fails}"}}\n'

    found = asked(origins, "evaluate", site=SITE, page=0, rule=rule)

    assert found["matched"]
    (failure,) = found["failures"]
    assert failure.startswith("title: ")


def test_a_folder_with_a_wrong_file_says_so(tmp_path: Path) -> None:
    state = workbench(news(), tmp_path)
    state.folder.mkdir()
    (state.folder / "wrong.yaml").write_text("site: [\n", "utf-8")
    with served(state) as origins:
        opened = asked(origins, "open", site=SITE)
        saved = asked(origins, "save", site=SITE, rule=RULE, seen="")

    assert opened["saved"] is None
    assert "wrong.yaml" in saved["message"]


def hostile() -> list[StoredPage]:
    """Pages that were written to hang, fill or run what reads them."""
    files = sorted(ATTACK.glob("*.html")) if ATTACK.is_dir() else []
    texts = [path.read_text("utf-8", "replace") for path in files]
    texts += [*ODD.values(), "".join(each.markup for each in payloads())]
    return [StoredPage(f"https://hostile.example/{n}", text) for n, text in enumerate(texts)]


def test_hostile_pages_are_drawn_evaluated_and_clicked(tmp_path: Path) -> None:
    pages = hostile()
    rule = "site: hostile.example\nbody: body\n"
    with served(workbench(pages, tmp_path)) as origins:
        asked(origins, "open", site="hostile.example")
        asked(origins, "suggest", site="hostile.example")
        for number in range(len(pages)):
            path = f"/{origins.frame_token}/hostile.example/{number}"
            answer, html = request(origins.frame_port, f"GET {path}")
            evaluated = asked(origins, "evaluate", site="hostile.example", page=number, rule=rule)
            click = {"site": "hostile.example", "page": number, "rule": rule, "run": 0}
            for role in ("body", "title") if evaluated["inside"] else ():
                block = max(evaluated["inside"].find("1"), 0)
                found = asked(origins, "click", **click, block=block, role=role)
                assert found.keys() & {"rule", "problems"}

            assert answer.status == 200
            assert html.count(b"<script") == 1
            assert len(html) < 60 * len(pages[number].html) + 60_000
            assert len(json.dumps(evaluated)) < 20 * len(pages[number].html) + 60_000
