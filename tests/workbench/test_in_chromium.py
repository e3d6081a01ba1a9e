"""The workbench in a real Chromium: a rule from stored pages, and attacks.

`make test-workbench` installs the browser; without one these tests are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("playwright")

from playwright.sync_api import Browser

from research.rendering.browser import chromium
from scrapy_mss.blocks.page import Page
from scrapy_mss.extractor import Extractor
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.workbench.serving import TOKEN_HEADER, Origins
from scrapy_mss.wrappers import load_wrappers
from scrapy_mss.wrappers.reading import read_by
from tests.helpers.browser import browser, noting
from tests.helpers.html_payloads import payloads
from tests.helpers.news_pages import news_page
from tests.helpers.workbench_ui import WorkbenchUI, opened
from tests.helpers.workbenches import SITE, served, workbench

pytestmark = [
    pytest.mark.skipif(
        chromium() is None, reason="there is no chromium here: make test-workbench installs it"
    ),
    pytest.mark.slow("a browser"),
]
BOX = '<aside class="promo"><p>Read our newsletter every single day.</p></aside>'
TEXT = "site: one.example\nbody: '#one-body'\n"


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as found:
        yield found


def pages(markup: str = BOX) -> list[StoredPage]:
    """A site whose articles have *markup* after their first paragraph."""
    return [
        StoredPage(
            f"https://{SITE}/news/{number}",
            news_page(number).html.replace("</p>\n<p>", f"</p>\n{markup}<p>", 1),
        )
        for number in range(1, 6)
    ]


@pytest.fixture
def origins(tmp_path: Path) -> Iterator[Origins]:
    with served(workbench(pages(), tmp_path)) as found:
        yield found


@pytest.fixture
def ui(chrome: Browser, origins: Origins) -> Iterator[WorkbenchUI]:
    with opened(chrome, origins) as found:
        yield found


def test_a_rule_is_made_and_saved_by_clicks(ui: WorkbenchUI, tmp_path: Path) -> None:
    assert "5 of 5" in ui.text("#matches")
    ui.page.fill("#text", TEXT)
    ui.page.wait_for_selector("#count:not(:empty)")
    ui.settle()
    promo = ui.page.frame_locator("#frame").locator("[data-block]", has_text="newsletter")
    answer = ui.click_block(int(promo.first.get_attribute("data-block") or -1))
    assert "exclude" in ui.rule
    ui.press("ArrowDown", "click")
    assert ui.rule != answer["rule"]
    ui.press("ArrowUp", "click")
    assert ui.rule == answer["rule"]
    ui.press("Control+z", "evaluate")
    assert ui.rule == TEXT
    ui.press("Control+Shift+Z", "evaluate")
    ui.click("#save")
    assert not ui.errors

    page = pages()[0]
    rule = load_wrappers(tmp_path / "rules").find(page.url)
    assert rule is not None
    assert read_by(rule, Page.of(page.html), Extractor()).text == news_page(1).text
    assert rule.tests


def test_a_saved_rule_is_shown_and_replaced_after_a_confirmation(
    chrome: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "rules" / f"{SITE}.yaml"
    path.parent.mkdir()
    path.write_text(TEXT, "utf-8")
    with served(workbench(pages(), tmp_path)) as origins, opened(chrome, origins) as ui:
        assert ui.rule == TEXT
        ui.click("#swap")
        ui.click("#save")
        assert path.read_text("utf-8") == TEXT
        ui.click("dialog button:has-text('Cancel')")
        assert path.read_text("utf-8") == TEXT
        ui.click("#save")
        ui.click("dialog button:has-text('Replace')")
        ui.page.wait_for_selector("#origin:has-text('Saved in')")

    assert "tests" in path.read_text("utf-8")


def test_problems_of_typed_text_are_shown_and_the_last_text_is_saved(
    ui: WorkbenchUI, tmp_path: Path
) -> None:
    ui.page.fill("#text", "site: one.example\nbody: 'div['\n")
    ui.page.wait_for_selector("#problems li")
    assert "line 2" in ui.text("#problems")
    ui.page.fill("#text", f"{TEXT}exclude: .promo\n")
    ui.click("#save")
    ui.page.wait_for_selector("#origin:has-text('Saved in')")

    assert "exclude: .promo" in (tmp_path / "rules" / f"{SITE}.yaml").read_text("utf-8")


def test_two_quick_clicks_are_both_in_the_rule(chrome: Browser, tmp_path: Path) -> None:
    box = "<aside class='{}'><p>Read our {} every single day.</p></aside>"
    stored = pages(box.format("promo", "newsletter") + box.format("advice", "columnist"))
    with served(workbench(stored, tmp_path)) as origins, opened(chrome, origins) as ui:
        ui.page.fill("#text", TEXT)
        ui.page.wait_for_selector("#count:not(:empty)")
        ui.settle()
        frame = ui.page.frames[1]
        for word in ("newsletter", "columnist"):
            marks = frame.locator("[data-block]", has_text=word)
            marks.first.dispatch_event("click", {"bubbles": True})
        ui.until(lambda: "promo" in ui.rule and "advice" in ui.rule)

        assert not ui.errors


def test_a_draft_is_kept_when_another_site_is_opened(chrome: Browser, tmp_path: Path) -> None:
    others = [StoredPage(each.url.replace("one.", "two."), each.html) for each in pages()[:3]]
    with (
        served(workbench([*pages(), *others], tmp_path)) as origins,
        opened(chrome, origins) as ui,
    ):
        ui.page.fill("#text", TEXT)
        ui.page.select_option("#site", "two.example")
        ui.until(lambda: "two.example" in ui.rule)
        ui.page.select_option("#site", SITE)
        ui.until(lambda: "one.example" in ui.rule)

        assert ui.rule == TEXT
        assert not ui.page.is_disabled("#undo")


def test_nothing_of_a_hostile_page_runs_or_is_requested(chrome: Browser, tmp_path: Path) -> None:
    """Each payload clicks a block, as our own script does, or requests the attacker's server."""
    asked = set[str]()
    with noting([b"<title>attacker</title>"], asked) as address:
        call = (
            "parent.postMessage({kind:'pick',block:0,run:0},'*');top.tripped=1;"
            f"fetch('{address}/call')"
        )
        markup = "".join(f"<div>{each.aimed(call, address)}</div>" for each in payloads())
        stored = pages(markup)
        with served(workbench(stored, tmp_path)) as origins, opened(chrome, origins) as ui:
            before = ui.rule
            inside = ui.page.frame_locator("#frame")
            for element in inside.locator("[data-block]").all()[:40]:
                element.hover(force=True, timeout=2000)
            ui.page.wait_for_timeout(500)
            frame = ui.page.frames[1]
            kinds = (
                "script,iframe,object,embed,form,link,meta[http-equiv],style,svg,math,a,base,input"
            )
            left = frame.locator(kinds).evaluate_all("all => all.map(one => one.localName)")
            handlers = frame.locator("*").evaluate_all(
                "all => all.flatMap(one => one.getAttributeNames())"
                ".filter(name => /^on|src|href|action|style/.test(name))"
            )

            assert sorted(left) == ["script", "style"]
            assert handlers == []
            assert asked == set()
            assert ui.rule == before
            assert ui.page.evaluate("typeof tripped") == "undefined"
            assert len(ui.page.frames) == 2
    assert not (tmp_path / "rules").exists()


def test_a_script_in_the_frame_could_reach_nothing(ui: WorkbenchUI, origins: Origins) -> None:
    """What the sandbox and the policy hold back, if the page was not rebuilt."""
    frame = ui.page.frames[1]
    tries = {
        "origin": "self.origin",
        "parent": "try { parent.document.title } catch (error) { error.name }",
        "cookie": "try { document.cookie } catch (error) { error.name }",
        "storage": "try { localStorage.length } catch (error) { error.name }",
        "ui": f"fetch('{origins.ui}/').then(() => 'read', error => error.name)",
        "save": f"fetch('{origins.ui}/api/save', {{method: 'POST', mode: 'no-cors'}})"
        ".then(() => 'sent', error => error.name)",
        "open": "String(window.open('about:blank'))",
        "top": f"try {{ top.location = '{origins.frame}/' }} catch (error) {{ error.name }}",
    }
    found = {name: frame.evaluate(code) for name, code in tries.items()}

    assert found["origin"] == "null"
    for name in ("parent", "cookie", "storage", "top"):
        assert found[name] == "SecurityError", name
    assert found["ui"] == found["save"] == "TypeError"
    assert found["open"] == "null"
    assert ui.page.url == f"{origins.ui}/"


def test_the_ui_accepts_messages_only_from_its_frame(ui: WorkbenchUI) -> None:
    before = ui.rule
    asked: list[str] = []
    ui.page.on("request", lambda request: asked.append(urlsplit(request.url).path))

    ui.page.evaluate("postMessage({kind: 'pick', block: 0, run: 0}, '*')")
    for bad in (
        "null",
        "'x'",
        "{kind: 1}",
        "{kind: 'pick', block: -1, run: 0}",
        "{kind: 'pick', block: 1e9, run: 0}",
        "{kind: 'pick', block: '0', run: 0}",
        "{kind: 'key', key: {}}",
        "{kind: 'key', key: 'constructor'}",
        "{kind: 'key', key: 's'}",
    ):
        ui.page.frames[1].evaluate(f"parent.postMessage({bad}, '*')")
    ui.page.wait_for_timeout(300)

    assert asked == []
    assert ui.rule == before
    assert not ui.errors


ATTACK = """<!DOCTYPE html><title>waiting</title><body><script>
const ui = "%(ui)s", token = "%(token)s", done = [];
const note = (what) => (value) => done.push(what + ":" + value);
const tries = [];
const json = {"Content-Type": "application/json"};
const body = '{"site": "one.example"}';
const post = (what, options) => tries.push(
  fetch(ui + "/api/save", {method: "POST", body, ...options}).then(note(what), () => 0));
const get = (what, path, options) => tries.push(
  fetch(ui + path, options).then(note(what), () => 0));
post("simple", {mode: "no-cors"});
post("json", {headers: json});
post("with token", {headers: {...json, "%(header)s": token}});
get("script", "/workbench.js", {});
get("page", "/", {mode: "no-cors", credentials: "include"});
for (const kind of ["img", "script", "iframe"]) {
  const element = document.createElement(kind);
  element.src = ui + (kind === "iframe" ? "/" : "/icon.svg");
  document.body.append(element);
}
const form = document.createElement("form");
Object.assign(form, {method: "POST", action: ui + "/api/save", target: "sent"});
form.enctype = "text/plain";
const frame = document.createElement("iframe");
frame.name = "sent";
document.body.append(frame, form);
form.submit();
Promise.all(tries).then(() => setTimeout(() => { document.title = JSON.stringify(done); }, 500));
</script>"""


def test_a_page_in_the_same_browser_cannot_reach_the_workbench(
    ui: WorkbenchUI, origins: Origins, tmp_path: Path
) -> None:
    """Not even one of this machine that has learned the secret."""
    values = {"ui": origins.ui, "token": origins.ui_token, "header": TOKEN_HEADER}
    with noting([(ATTACK % values).encode()], set()) as address:
        page = ui.page.context.new_page()
        answers: list[tuple[str, int]] = []
        page.on("response", lambda answer: answers.append((answer.url, answer.status)))
        page.goto(f"{address}/")
        page.wait_for_selector("title:not(:has-text('waiting'))", state="attached")
        title = page.title()
    statuses = [status for url, status in answers if url.startswith(origins.ui)]

    assert "json" not in title
    assert "token" not in title
    assert "script" not in title
    assert set(statuses) == {403}
    assert not (tmp_path / "rules").exists()
