"""The public rules of Full-Text RSS; those here are ours, in their syntax."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from research.datasets.public_rules import load_rules, site_config, site_of_file
from scrapy_mss.wrappers import Wrapper, xpath

# They lie beside the repository where it is developed.
ARCHIVE = Path(__file__).resolve().parents[4] / "shared" / "wrappers" / "ftr-site-config.tar.xz"
CONFIG = """\
# A note: not a directive
title: //h1
body: //div[@id='story']
body://article
body: //p[

strip: //aside
strip: //*
strip_id_or_class: 'share bar' #or not?
AUTHOR: //p[@class='by']
date: substring-after(//p[@class='on'], 'on ')
prune: no
replace_string(<y): <z
"""


def test_directives_become_fields_without_selectors_that_cannot_be_used() -> None:
    assert site_config(CONFIG, "example.com.txt") == Wrapper(
        site="example.com",
        body=(xpath("//div[@id='story']"), xpath("//article")),
        exclude=(
            xpath("//aside"),
            xpath("//*[contains(@class, 'share bar') or contains(@id, 'share bar')]"),
        ),
        title=(xpath("//h1"),),
        authors=(xpath("//p[@class='by']"),),
        published=(xpath("substring-after(//p[@class='on'], 'on ')"),),
    )
    assert site_config("title: //h1", "example.com.txt") is None
    assert site_config(CONFIG, "notes on rules.txt") is None
    assert site_of_file(".example.com.txt") == "*.example.com"


def test_a_folder_without_site_config_files_is_one_of_wrappers(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("site: a.example\nbody: p\n", "utf-8")

    assert [rule.site for rule in load_rules(tmp_path)] == ["a.example"]


@pytest.mark.skipif(not ARCHIVE.is_file(), reason=f"there is no {ARCHIVE}")
@pytest.mark.slow("thousands of rules")
def test_all_rules_with_a_body_are_loaded(tmp_path: Path) -> None:
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")

    assert len(load_rules(tmp_path / "ftr-site-config")) > 1_700
