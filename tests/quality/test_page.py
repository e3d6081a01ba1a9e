"""The page and the JSON: what they have, and that nothing in them is anything but text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from dataclasses import replace

import pytest
from lxml import html

from scrapy_mss.output.html_elements import element
from scrapy_mss.quality.alarms import DAY
from scrapy_mss.quality.counts import FAILED, KIND, KNOWN, PAGES, TRIED
from scrapy_mss.quality.page import page, sparkline
from scrapy_mss.quality.report import Report, as_json, report
from scrapy_mss.quality.store import Days
from tests.quality.made_up import TODAY, MadeUpSite, attempts, broken, days

HOSTILE = (
    """"><script>alert(1)</script><img src=//x.example onerror='x()'>&amp;\u202egnp\x1b[2J\ud800"""
)


def _report(sites: dict[str, Days], listed: Collection[str] = ()) -> Report:
    return report(sites, DAY * (TODAY + 1) - 1, listed)


@pytest.fixture
def found() -> Report:
    site = MadeUpSite(rule=0.9)
    return _report(
        {
            "good.example": days(site, range(TODAY - 27, TODAY + 1)),
            HOSTILE: days(site, range(TODAY - 3, TODAY + 1)),
            "worse.example": broken(site, TODAY, fields=0.0),
            "bad.example": broken(site, TODAY, words=40.0),
            "silent.example": attempts(site, last_new=TODAY - 5),
            "dead.example": {TODAY: Counter({TRIED: 1, f"{FAILED}07 redirected to {HOSTILE}": 2})},
        },
    )


def test_the_worst_sites_come_first(found: Report) -> None:
    names = [site.site for site in found.sites]

    assert names[0] == "worse.example"
    assert set(names[1:4]) == {"bad.example", "dead.example", "silent.example"}
    assert len(found.sites[0].alarms) == 4
    tree = html.document_fromstring(page(found).encode("utf-8", "xmlcharrefreplace"))
    quality = tree.xpath("//table[@class='sites']")[-1]
    rows = quality.xpath("tbody/tr/th")
    assert [row.text_content() for row in rows][:2] == names[:2]
    alarms = tree.xpath("//ul[@class='alarms']")[0].text_content()
    assert "articles with an author" in alarms
    assert "91% → 0%" in alarms


def test_the_page_asks_for_nothing_and_runs_nothing(found: Report) -> None:
    source = page(found)
    tree = html.document_fromstring(source.encode("utf-8", "xmlcharrefreplace"))

    assert not tree.xpath("//script | //img | //link | //iframe | //object | //form | //base")
    names = {name for each in tree.iter("*") for name in each.attrib}
    assert not {name for name in names if name.startswith("on") or name in ("href", "src", "style")}
    assert "url(" not in source
    assert "@import" not in source
    assert "default-src 'none'" in source
    assert "\x1b" not in source
    assert "\u202e" not in source


def test_what_others_named_is_shown_as_it_is(found: Report) -> None:
    source = page(found)

    assert source.count("&lt;script&gt;") >= 4  # the table, the details, an error, its alarm
    assert "<script" not in source
    assert "\\u202e" in source


def test_json_has_the_same(found: Report) -> None:
    read = json.loads(json.dumps(as_json(found)))

    assert read["alarms"] == len(found.alarms)
    worst = read["sites"][0]
    assert worst["site"] == "worse.example"
    assert {"title", "authors"} < {alarm["measure"] for alarm in worst["alarms"]}
    assert worst["measures"]["title"] == 0.0
    assert len(worst["days"]) == 28
    assert worst["articles"] == sum(day["articles_found"] for day in worst["days"])


def test_the_kinds_of_pages_are_shown_beside_those_before() -> None:
    known = {"pages": 4, "known": 4}
    of = {
        TODAY - 9: Counter({**known, f"{KIND}article": 4}),
        TODAY: Counter({**known, f"{KIND}article": 1, f"{KIND}consent": 3}),
    }
    found = _report({"a.example": of})

    assert as_json(found)["sites"][0]["kinds"] == [
        {"text": "article", "now": 0.25, "before": 1.0},
        {"text": "consent", "now": 0.75, "before": 0.0},
    ]
    shown = html.document_fromstring(page(found)).xpath(
        "//h3[.='Kinds of pages']/following-sibling::table[1]//tr"
    )
    assert [[cell.text for cell in row] for row in shown[1:]] == [
        ["article", "25%", "100%"],
        ["consent", "75%", "0%"],
    ]


def test_a_report_of_one_day_has_no_alarm_and_can_be_shown() -> None:
    found = _report({"a.example": days(MadeUpSite(), [TODAY])})

    assert found.alarms == []
    assert "No site has an alarm." in page(found)


def test_elements_escape_text_and_attributes() -> None:
    assert element("b", "<&", element("i", "x"), title='"') == (
        '<b title="&quot;">&lt;&amp;<i>x</i></b>'
    )


@pytest.mark.parametrize(
    ("numbers", "path"),
    [
        ([], ""),
        ([None, None], ""),
        ([1.0], "M2 2.0h0"),
        ([0.0, 1.0], "M2 14.0h0L4 2.0"),
        ([0.0, None, 2.0], "M2 14.0h0M6 2.0h0"),
        ([None, 0.5, 0.5, None], "M4 8.0h0L6 8.0"),
    ],
)
def test_a_line_has_gaps_where_there_is_no_number(numbers: list[float | None], path: str) -> None:
    assert f'd="{path}"' in sparkline(numbers, 1.0, "x")


def test_each_site_of_the_list_has_a_row_with_its_attempts() -> None:
    of = {TODAY: Counter({TRIED: 2, "lists": 3, "answered/07": 4, "failed/09 HTTP 503": 1})}
    found = _report({"a.example": of, "b.example": {}}, ["a.example", "b.example"])
    tree = html.document_fromstring(page(found))

    rows = tree.xpath("//table[@class='sites']/tbody/tr")
    assert [[cell.text_content() for cell in row] for row in rows] == [
        ["a.example", "4 Oct 07:00", "4 Oct 09:00", "HTTP 503", "3", "0"],
        ["b.example", "not tried", "–", "", "–", "0"],  # noqa: RUF001
    ]
    first = as_json(found)["sites"][0]
    assert (first["last_success"], first["last_error"]) == (
        "2024-10-04T07:00Z",
        "2024-10-04T09:00Z",
    )
    assert (first["error"], first["lists"]) == ("HTTP 503", 3)


def test_sites_that_need_a_browser_are_named() -> None:
    def counts(shells: int) -> Days:
        return {TODAY: Counter({PAGES: 50, KNOWN: 50, f"{KIND}shell": shells})}

    found = _report({"app.example": counts(20), "odd.example": counts(1)})

    expected = "pages that only scripts fill: app.example (40%); MSS_RENDER = 'auto' asks for them"
    (advice,) = found.advice
    assert advice.startswith(expected)
    assert advice in html.document_fromstring(page(found)).text_content()
    assert as_json(found)["advice"] == [advice]
    assert _report({"odd.example": counts(1)}).advice == []


def test_a_rule_that_declines_is_named_with_what_mends_it() -> None:
    site = MadeUpSite(rule=0.9)
    found = _report({"a.example": broken(site, TODAY, rule=0.1), "b.example": broken(site, TODAY)})
    files = {"a.example": "my rules/a.yaml", "b.example": "b.yaml"}

    (advice,) = replace(found, rules=files).advice
    command = "scrapy mss suggest https://a.example/ --replace 'my rules/a.yaml'"
    assert advice == f"a.example: its rule may be outdated: {command}"
    assert found.advice == []
