"""What is saved is what was seen, is loaded again, and replaces nothing that nobody has seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from scrapy_mss.extractor import Extractor
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.workbench.saving import (
    MAX_TESTS,
    CheckPages,
    ExistsError,
    SaveError,
    digest,
    rule_path,
    save,
    saved_rule,
)
from scrapy_mss.wrappers import SamplePage, Wrapper, css, label, load_wrappers
from tests.helpers.news_pages import news_page

SITE = "one.example"
PAGES = [StoredPage(f"https://{SITE}/{n}", news_page(n).html) for n in range(8)]
CHECKED = CheckPages(PAGES, Extractor())
RULE = Wrapper(site=SITE, body=(css("#one-body"),))


def test_a_saved_rule_is_loaded_by_a_crawl_and_finds_the_article(tmp_path: Path) -> None:
    saved = save(RULE, CHECKED, tmp_path)

    rule = load_wrappers(tmp_path).find(PAGES[0].url)

    assert rule is not None
    assert saved.path == tmp_path / "one.example.yaml"
    assert label(rule, PAGES[0].html).text == news_page(0).text
    assert len(rule.tests) == MAX_TESTS
    assert all(test.contains for test in rule.tests)
    assert saved_rule(tmp_path, PAGES[0].url) == (saved.path, saved.text)
    assert save(RULE, CHECKED, tmp_path) == saved  # again, without a question
    assert {test.url for test in rule.tests} == {page.url for page in PAGES[:MAX_TESTS]}


def test_another_rule_is_replaced_only_by_who_has_seen_it(tmp_path: Path) -> None:
    path = rule_path(tmp_path, RULE)
    path.write_text("# mine\nsite: one.example\nbody: .mine\n", "utf-8")

    with pytest.raises(ExistsError) as refused:
        save(RULE, CHECKED, tmp_path)
    assert "# mine" in path.read_text("utf-8")
    with pytest.raises(ExistsError):
        save(RULE, CHECKED, tmp_path, digest("what was there before"))
    save(RULE, CHECKED, tmp_path, digest(refused.value.text))

    assert "# mine" not in path.read_text("utf-8")


def test_a_rule_that_a_crawl_has_from_another_file_is_replaced_there(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("site: one.example\nbody: .mine\n", "utf-8")

    with pytest.raises(ExistsError) as refused:
        save(RULE, CHECKED, tmp_path)
    saved = save(RULE, CHECKED, tmp_path, digest(refused.value.text))

    assert saved.path == path
    assert saved.message.endswith("pages")
    found = load_wrappers(tmp_path).find(PAGES[0].url)
    assert found is not None
    assert found.body == RULE.body


def test_in_a_file_of_several_rules_the_others_stay(tmp_path: Path) -> None:
    other = "---\nsite: two.example # theirs\nbody: .theirs\n"
    path = tmp_path / "mine.yaml"
    path.write_text(f"site: one.example\nbody: .mine\n{other}", "utf-8")
    found = saved_rule(tmp_path, PAGES[0].url)
    assert found == (path, "site: one.example\nbody: .mine\n")

    with pytest.raises(ExistsError) as refused:
        save(RULE, CHECKED, tmp_path)
    assert {"-body: .mine", "+body: '#one-body'"} <= set(refused.value.diff)
    saved = save(RULE, CHECKED, tmp_path, digest(refused.value.text))
    assert path.read_text("utf-8") == saved.text + other

    path.rename(tmp_path / "one.example.x.yaml")
    with pytest.raises(SaveError, match="several rules"):
        save(replace(RULE, name="x"), CHECKED, tmp_path)


GONE = replace(RULE, body=(css(".gone"),))


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (GONE, "no page is read"),
        (replace(GONE, tests=(SamplePage(f"https://{SITE}/elsewhere"),)), "no page is read"),
        (replace(RULE, site="other.example"), "would not use this rule"),
        (replace(RULE, url=("/story/*",)), "would not use this rule"),
    ],
)
def test_a_rule_that_no_crawl_could_use_is_not_saved(
    tmp_path: Path, rule: Wrapper, why: str
) -> None:
    with pytest.raises(SaveError, match=why):
        save(rule, CHECKED, tmp_path)

    assert not [path for path in tmp_path.iterdir() if path.is_file()]


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "..", "a\\b", "a\0b", "CON "])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    path = rule_path(tmp_path, Wrapper(site=SITE, body=(css("p"),), name=name))

    assert path.parent == tmp_path
    assert path.name.startswith("one.example")
    assert path.suffix == ".yaml"


def test_a_link_out_of_the_folder_is_not_written_to(tmp_path: Path) -> None:
    folder, target = tmp_path / "rules", tmp_path / "elsewhere.yaml"
    folder.mkdir()
    target.write_text("", "utf-8")
    (folder / "one.example.yaml").symlink_to(target)

    with pytest.raises(SaveError, match="leads out"):
        save(RULE, CHECKED, folder)

    assert target.read_text("utf-8") == ""


def test_where_another_rule_would_be_used_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "site: one.example\nname: first\nbody: p\npriority: 9\n", "utf-8"
    )

    saved = save(RULE, CHECKED, tmp_path)

    assert f"a crawl would use the rule in {tmp_path / 'a.yaml'}" in saved.message
