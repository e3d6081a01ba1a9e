"""What is sent between processes: what arrives is what was sent."""

from __future__ import annotations

import io
from typing import TypeVar

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.article import ReadOptions
from scrapy_mss.core.labels import Rejection
from scrapy_mss.crawl import processes, wire
from scrapy_mss.crawl.page_work import PageWork
from scrapy_mss.crawl.wire import PageAnswer, PageRequest
from scrapy_mss.models.files import bundled_model
from scrapy_mss.models.model import Example
from scrapy_mss.sites.context import SiteContext, SiteUpdate
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.wrappers import Wrapper, css, load_wrappers
from tests.helpers.layouts import PAGES
from tests.helpers.memories import NOW, page_memory
from tests.plugin.models import ADDRESS
from tests.plugin.site import RULES, plain, wrapped

T = TypeVar("T")

pytestmark = pytest.mark.any_scrapy("bytes between processes; there is no crawl")

MADE_IN_PYTHON = Wrapper(site="example.com", body=(css("article"),), origin="settings.py")
WRAPPER = load_wrappers(RULES).find(ADDRESS)
MODEL = bundled_model()
WORK = PageWork(MODEL, ReadOptions())


def arrived(value: T) -> T:
    """What is received where *value* is sent."""
    stream = io.BytesIO()
    processes.send(stream, value)
    stream.seek(0)
    received: T = processes.receive(stream, type(value))
    return received


@given(st.text(st.characters()), st.text(st.characters()), st.lists(PAGES, max_size=3))
@hypothesis.example("\ud800 a\x00b \U0001f600", "http://a/\udfff", [])
def test_a_request_arrives_as_it_is(html: str, url: str, pages: list[str]) -> None:
    site = SiteContext(remembered(pages), NOW, ADDRESS)
    for wrapper in (None, WRAPPER, MADE_IN_PYTHON):
        sent = PageRequest(html, url, wrapper, example=True, site=site)

        assert arrived(sent) == sent


@given(st.lists(PAGES, max_size=3), st.integers(0, 2**64 - 1))
def test_an_update_of_a_site_arrives_as_it_is(pages: list[str], place: int) -> None:
    sent = PageAnswer(update=SiteUpdate(remembered(pages), place))

    assert arrived(sent) == sent


def remembered(pages: list[str]) -> SiteMemory:
    memory = SiteMemory()
    for html in pages:
        memory = memory.plus(page_memory(html))
    return memory


@pytest.mark.parametrize(("html", "wrapper"), [(plain(1), None), (wrapped(1), WRAPPER)])
def test_the_memory_of_a_site_is_updated_if_it_was_sent(html: str, wrapper: Wrapper | None) -> None:
    context = SiteContext(SiteMemory(), NOW, ADDRESS)

    update = WORK.answer(PageRequest(html, ADDRESS, wrapper, site=context)).update

    assert update is not None
    assert update.added.pages == 1
    assert update.added.labelled_pages == (wrapper is not None)
    assert WORK.answer(PageRequest(html, ADDRESS, wrapper)).update is None


@pytest.mark.parametrize(
    "answer",
    [
        *map(
            WORK.answer,
            [
                PageRequest(plain(1), ADDRESS),
                PageRequest("", ADDRESS),
                PageRequest(wrapped(1), ADDRESS, WRAPPER, article=False),
                PageRequest(wrapped(1), ADDRESS, WRAPPER),
                PageRequest(plain(1), ADDRESS, WRAPPER, example=True),
                PageRequest("<article class=story>few", ADDRESS, WRAPPER, example=True),
            ],
        ),
        *(PageAnswer(example=rejection) for rejection in Rejection),
        PageAnswer(failure=wire.ERROR, logged=((40, "one"), (10, "two\nlines"))),
    ],
)
def test_an_answer_arrives_as_it_is(answer: PageAnswer) -> None:
    assert arrived(answer) == answer


def test_a_training_example_arrives_as_it_is() -> None:
    answer = WORK.answer(PageRequest(wrapped(1), ADDRESS, WRAPPER, example=True))

    sent, back = answer.example, arrived(answer).example
    assert isinstance(sent, Example)
    assert isinstance(back, Example)
    assert back.key == sent.key
    assert back.observation.digest == sent.observation.digest
    assert np.array_equal(back.observation.tokens, sent.observation.tokens)
    assert back.observation.counts.keys() == sent.observation.counts.keys()
    for name, (bucket, counts) in sent.observation.counts.items():
        its_bucket, its_counts = back.observation.counts[name]
        assert np.array_equal(bucket, its_bucket)
        assert np.array_equal(counts, its_counts)
        assert (bucket.dtype, counts.dtype) == (its_bucket.dtype, its_counts.dtype)


def test_a_page_is_learned_although_its_article_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("scrapy_mss.crawl.page_work.article_of_labels", lambda *_, **__: 1 / 0)

    answer = WORK.answer(PageRequest(wrapped(1), ADDRESS, WRAPPER, example=True))

    assert isinstance(answer.example, Example)
    assert answer.article is not None
    assert answer.article.reason == wire.ERROR


@pytest.mark.parametrize("name", ["label", "read_article", "article_of_labels"])
def test_memory_that_runs_out_is_left_to_the_process(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(f"scrapy_mss.crawl.page_work.{name}", failing)
    wrapper = None if name == "read_article" else WRAPPER

    with pytest.raises(MemoryError):
        WORK.answer(PageRequest(wrapped(1), ADDRESS, wrapper))


def test_a_message_that_is_cut_off_is_an_end() -> None:
    whole = io.BytesIO()
    processes.send(whole, b"seven!!")

    assert processes.receive(io.BytesIO(whole.getvalue()), bytes) == b"seven!!"
    for length in range(len(whole.getvalue())):
        with pytest.raises((EOFError, ValueError)):
            processes.receive(io.BytesIO(whole.getvalue()[:length]), bytes)
