"""The table of fates: what tells each, and which replaces which."""

from __future__ import annotations

import zlib
from socket import gaierror

import pytest

from scrapy_mss.crawl.pages import PrivateHostError
from scrapy_mss.pages.kinds import ARTICLE_KINDS, KINDS
from scrapy_mss.quality import fates
from scrapy_mss.quality.fates import FATES, of_exception, of_page, of_status


def _error(name: str) -> Exception:
    """An exception of a class with this *name*, which older versions of Scrapy do not have."""
    error: Exception = type(name, (Exception,), {})()
    return error


def test_each_fate_has_a_name_and_signs_of_its_own() -> None:
    names = [fate.name for fate in FATES]
    signs = [sign for fate in FATES for sign in fate.signs]

    assert len(names) == len(set(names))
    assert len(signs) == len(set(signs))


@pytest.mark.parametrize("kind", [each for each in KINDS if each not in ARTICLE_KINDS])
def test_each_kind_of_page_that_is_no_article_has_a_fate(kind: str) -> None:
    assert of_page(kind, "other_kind").name.endswith(f"/{kind}")


@pytest.mark.parametrize(
    ("found", "name"),
    [
        (of_page("article", "no_span"), "other/other"),
        (of_page("", "other_language"), "other/language"),
        (of_page("", "too_large"), "failed/too_large"),
        (of_status(404), "failed/gone"),
        (of_status(429), "failed/forbidden"),
        (of_status(503), "failed/server"),
        (of_status(206), "failed/status"),
        (of_exception(_error("DownloadTimeoutError")), "failed/timeout"),
        (of_exception(_error("DownloadCancelledError")), "failed/too_large"),
        (of_exception(PrivateHostError()), "failed/private"),
        (of_exception(gaierror()), "failed/dns"),
        (of_exception(zlib.error()), "failed/connection"),
        (of_exception(ValueError()), "failed/connection"),
    ],
)
def test_signs_tell_the_fate(found: fates.Fate, name: str) -> None:
    assert found.name == name
