"""`scrapy mss suggest`, from stored pages and from addresses."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import pytest

from scrapy_mss.blocks.page import Page
from scrapy_mss.commands import CommandError
from scrapy_mss.commands import suggest as command
from scrapy_mss.extractor import Extractor
from scrapy_mss.suggest import suggest
from scrapy_mss.wrappers import label, load_wrappers
from scrapy_mss.wrappers.reading import read_by
from tests.helpers.local_server import serving_files
from tests.helpers.suggested_sites import article, front_page, text_of
from tests.plugin.crawling import Done, run_scrapy
from tests.plugin.site import Site, story, wrapped


def run(folder: Path, *line: str) -> Done:
    return run_scrapy(folder, "mss", "suggest", *line)


def test_a_file_of_pages_becomes_a_file_that_a_crawl_loads(tmp_path: Path) -> None:
    pages = [front_page(), *(article(number) for number in range(4))]
    lines = (json.dumps({"url": page.url, "html": page.html}) for page in pages)
    (tmp_path / "pages.jsonl").write_text("\n".join(lines))
    rule = tmp_path / "rule.yaml"

    done = run(tmp_path, "pages.jsonl", "-o", str(rule))

    assert (done.code, done.out) == (0, ""), done.err
    (wrapper,) = load_wrappers(rule)
    found = read_by(wrapper, Page.of(article(50).html), Extractor())
    assert found.text == text_of(50)
    assert "matches 4 of 4 articles; fields: title " in done.err
    assert f"not used  {front_page().url}  no article" in done.err


def test_addresses_are_fetched_and_the_rule_is_printed(site: Site, tmp_path: Path) -> None:
    missing = site.url("/nowhere")

    done = run(tmp_path, *(site.url(f"/wrapped/{n}") for n in range(3)), missing)

    assert done.code == 0, done.err
    (tmp_path / "rule.yaml").write_text(done.out)
    (wrapper,) = load_wrappers(tmp_path / "rule.yaml")
    assert story("wrapped", 9).paragraphs[0] in label(wrapper, wrapped(9)).text
    assert wrapper.host == "127.0.0.1"
    assert f"scrapy mss suggest: {missing}: not reachable: HTTP status 404" in done.err


def test_a_front_page_is_fetched_with_the_articles_that_it_links_to(tmp_path: Path) -> None:
    (tmp_path / "2024").mkdir()
    names = [f"2024/report-{number}.html" for number in range(5)]
    for number, name in enumerate(names):
        (tmp_path / name).write_text(article(number).html, "utf-8")
    links = "".join(f"<li><a href='{name}'>{name}</a>" for name in [*names, "gone.html"])
    (tmp_path / "index.html").write_text(f"<ul>{links}</ul>", "utf-8")

    with serving_files(tmp_path) as server:
        address = f"{server}/"
        done = run(tmp_path, address)

    assert done.code == 0, done.err
    assert "matches 5 of 5 articles" in done.err
    assert f"not used  {address}  no article" in done.err
    assert f"{address}gone.html: not reachable: HTTP status 404" in done.err


def test_no_rule_is_an_exit_code_and_a_reason(tmp_path: Path) -> None:
    page = front_page()
    (tmp_path / "pages.jsonl").write_text(json.dumps({"url": page.url, "html": page.html}))

    done = run(tmp_path, "pages.jsonl", "-o", "rule.yaml")

    assert done.code == 1
    assert done.err == ("scrapy mss suggest: no rule, as none of 1 pages is of use: 1 no article\n")
    assert not (tmp_path / "rule.yaml").exists()


def test_a_rule_is_replaced_after_its_changes_were_shown_and_confirmed(tmp_path: Path) -> None:
    lines = (json.dumps({"url": page.url, "html": page.html}) for page in map(article, range(5)))
    (tmp_path / "pages.jsonl").write_text("\n".join(lines))
    other = "---\n# theirs\nsite: other.example\nbody: .theirs\n"
    old = "site: news.example\nname: main\nurl: /2024/*\nbody: .gone\n"
    (tmp_path / "rules.yaml").write_text(old + other)
    line = ("pages.jsonl", "--replace", "rules.yaml")

    asked = run(tmp_path, *line)
    assert asked.code == 1
    assert (tmp_path / "rules.yaml").read_text() == old + other
    assert {"-body: .gone", "+around: .story-text", " # theirs"} <= set(asked.out.splitlines())
    assert asked.out.count("  before  nothing\n  now     ") == 5
    assert f"words: {text_of(0)[:40]}" in asked.out
    assert "scrapy mss workbench pages.jsonl -r . shows the pages" in asked.out
    assert asked.out.endswith("Replace the rule in rules.yaml? [y/N] ")

    assert run(tmp_path, *line, "--yes").code == 0
    written = (tmp_path / "rules.yaml").read_text()
    assert written.endswith(other)
    rule, _ = load_wrappers(tmp_path / "rules.yaml")
    assert (rule.id, rule.url) == ("news.example/main", ("/2024/*",))
    assert read_by(rule, Page.of(article(50).html), Extractor()).text == text_of(50)

    (tmp_path / "rules.yaml").write_text(other.removeprefix("---\n"))
    assert "rules.yaml: no rule is for any of the 5 pages" in run(tmp_path, *line).err


def test_an_edit_while_the_question_is_open_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text("site: news.example\nbody: .gone\n")
    (old,) = load_wrappers(path)
    found = suggest([*map(article, range(5))], Extractor(), None, old)
    options = Namespace(pages=["pages.jsonl"], yes=False)

    def edited() -> str:
        path.write_text("site: news.example\nbody: .mine\n")
        return "yes\n"

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(readline=edited))
    with pytest.raises(CommandError, match="changed meanwhile"):
        command._replace(options, found, old)
    assert "mine" in path.read_text()
