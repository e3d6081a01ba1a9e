"""Fields of items by name; those of an `Article` as `itemadapter` has them, without it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.crawl.item_fields import fields_of
from scrapy_mss.items import ARTICLE_FIELDS, Article

NAMES = st.sampled_from([*ARTICLE_FIELDS, "headline", "__class__", "to_zyte_article"])
READS_ARTICLES = """
import sys
from scrapy.settings import Settings
from scrapy_mss.addon import Addon
from scrapy_mss.crawl.item_fields import fields_of
from scrapy_mss.items import Article
Addon().update_settings(Settings())
fields_of(Article("https://news.example/")).put("title", "A")
print("itemadapter" in sys.modules)
"""


@dataclass(repr=False)
class Adapted(Article):
    """An article that `itemadapter` is asked about."""


@given(NAMES, st.none() | st.text())
def test_an_article_has_the_fields_that_itemadapter_finds(name: str, value: str | None) -> None:
    ours, adapted = fields_of(Article("about:blank")), fields_of(Adapted("about:blank"))
    assert ours is not None
    assert adapted is not None

    assert ours.has(name) == adapted.has(name)
    if ours.has(name):
        ours.put(name, value)
        adapted.put(name, value)
    assert ours.get(name) == adapted.get(name)


@pytest.mark.parametrize("item", [None, "text", 7, ["url"]])
def test_what_is_no_item_has_no_fields(item: object) -> None:
    assert fields_of(item) is None


def test_a_crawl_of_articles_does_not_import_the_libraries_of_other_items() -> None:
    done = subprocess.run(
        [sys.executable, "-c", READS_ARTICLES], check=True, stdout=subprocess.PIPE, text=True
    )

    assert done.stdout == "False\n"
