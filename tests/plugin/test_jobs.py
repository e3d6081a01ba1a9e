"""The jobs of pages without a crawl: how many are under way at once, and what is done once."""

from __future__ import annotations

import asyncio
import gc
import operator
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from scrapy_mss.article import ArticleResult
from scrapy_mss.crawl import _compat, jobs
from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.crawl.jobs import PAGES_A_WORKER, answered
from scrapy_mss.crawl.wire import LabelSummary, PageAnswer, PageRequest
from scrapy_mss.downloadermiddlewares import TrainingMiddleware
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.pages.addresses import public_suffixes
from scrapy_mss.pipelines import ArticlePipeline
from scrapy_mss.spidermiddlewares import ArticleMiddleware
from scrapy_mss.wrappers import Reason
from tests.plugin.parts import MakeCrawler, items_of, page, passed, processed, stat
from tests.plugin.site import RULES, plain, rules_with, story, wrapped

LIMIT = 300.0  # seconds; no test waits that long unless something is wrong


class WaitingPool:
    """A pool whose pages are answered when the test says so."""

    cannot_start = False

    def __init__(self) -> None:
        self.jobs: list[Future[PageAnswer]] = []

    def submit(self, _page: PageRequest) -> Future[PageAnswer]:
        self.jobs.append(Future())
        return self.jobs[-1]

    def finish(self, *numbers: int) -> None:
        labels = LabelSummary(Reason.NO_MATCH, {}, 0)
        for number in numbers:
            self.jobs[number].set_result(PageAnswer(ArticleResult(), labels))


async def _enough(passed_on: Sequence[int], number: int) -> None:
    """Wait for so many, however slow the machine is; one too many would come right after them."""
    while len(passed_on) < number:
        await asyncio.sleep(0)
    for _ in range(100):
        await asyncio.sleep(0)


def test_pages_wait_until_half_of_those_under_way_are_done_and_begin_in_order(
    crawler_of: MakeCrawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawler, waiting, half = crawler_of(MSS_WRAPPERS=RULES), WaitingPool(), PAGES_A_WORKER // 2
    part = TrainingMiddleware.from_crawler(crawler)
    monkeypatch.setattr(MssExtension.of(crawler).jobs, "pool", waiting)
    passed_on: list[int] = []

    async def passing(number: int) -> None:
        response = page(wrapped(number))
        assert response.request is not None
        await part.process_response(response.request, response)
        passed_on.append(number)

    async def run() -> list[list[int]]:
        passed_at = []
        tasks = [asyncio.create_task(passing(n)) for n in range(PAGES_A_WORKER + half + 1)]
        for first, number in ((0, PAGES_A_WORKER), (half, PAGES_A_WORKER + half)):
            waiting.finish(*range(first))
            await asyncio.wait_for(_enough(passed_on, number), LIMIT)
            passed_at.append(list(passed_on))
        waiting.finish(*range(half, PAGES_A_WORKER + half))
        await asyncio.wait(tasks)
        waiting.finish(PAGES_A_WORKER + half)
        await MssExtension.of(crawler).trainer.drain()
        return passed_at

    assert asyncio.run(run()) == [list(range(PAGES_A_WORKER + n)) for n in (0, half)]


def test_pages_that_are_let_in_and_never_read_hold_up_no_others(
    crawler_of: MakeCrawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    extension = MssExtension.of(crawler_of())
    monkeypatch.setattr(extension.jobs, "pool", WaitingPool())

    async def run() -> None:
        rooms = [extension.jobs.room() for _ in range(3 * PAGES_A_WORKER)]
        await asyncio.wait_for(asyncio.gather(*rooms), LIMIT)

    asyncio.run(run())


def test_a_page_that_is_labelled_again_for_its_article_is_one_hit(
    crawler_of: MakeCrawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a callback asks for the article of a page whose items are skipped."""
    crawler, waiting = crawler_of(MSS_WRAPPERS=RULES), WaitingPool()
    extension = MssExtension.of(crawler)
    monkeypatch.setattr(extension.jobs, "pool", waiting)
    response = page(wrapped(1), mss_skip_extraction=True)

    async def run() -> None:
        await extension.trainer.train(response, article=False)
        reading = asyncio.create_task(extension.reader_for_component().article_of(response))
        await asyncio.sleep(0)
        for number in range(2):
            waiting.finish(number)
        await reading
        await extension.trainer.drain()

    asyncio.run(run())
    assert stat(crawler, "wrapper/127.0.0.1/miss") == 1


class Losing:
    """A pool that raises an exception for each page."""

    cannot_start = False

    def submit(self, _page: PageRequest) -> Future[PageAnswer]:
        return ThreadPoolExecutor(1).submit(operator.truediv, 1, 0)


def test_an_exception_of_the_pool_is_logged_once_however_many_wait(
    crawler_of: MakeCrawler, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = MssExtension.of(crawler_of()).jobs
    monkeypatch.setattr(jobs, "pool", Losing())

    async def run() -> set[str]:
        job = jobs.begin(PageRequest("", "http://127.0.0.1/lost"))
        answers = await asyncio.gather(*[answered(job) for _ in range(3)])
        await asyncio.sleep(0)
        return {answer.failure for answer in answers}

    assert asyncio.run(run()) == {"error"}
    gc.collect()
    (logged,) = [each.message for each in caplog.records if each.levelname == "ERROR"]
    assert "http://127.0.0.1/lost" in logged


def test_a_page_is_labelled_and_read_once_for_training_and_its_items(
    crawler_of: MakeCrawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scrapy_mss import metadata
    from scrapy_mss.crawl import page_work
    from scrapy_mss.wrappers import labeller

    calls: list[str] = []
    for module, name in ((page_work, "label"), (labeller, "tokenize"), (metadata, "read_page")):
        monkeypatch.setattr(module, name, _counting(getattr(module, name), name, calls))
    crawler, response = crawler_of(MSS_WRAPPERS=RULES), page(wrapped(1))
    pipeline = ArticlePipeline.from_crawler(crawler)

    passed(TrainingMiddleware.from_crawler(crawler), response)
    items = items_of(ArticleMiddleware.from_crawler(crawler), response, {"url": ""}, {"url": ""})
    first, second = processed(pipeline, *items)

    assert first["text"] == second["text"]
    assert story("wrapped", 1).paragraphs[0] in first["text"]
    assert sorted(calls) == ["label", "read_page", "tokenize"]
    assert stat(crawler, "wrapper/127.0.0.1/hit") == stat(crawler, "train/learned") == 1


def _counting(call: Callable[..., object], name: str, calls: list[str]) -> Callable[..., object]:
    def counted(*arguments: object, **named: object) -> object:
        calls.append(name)
        return call(*arguments, **named)

    return counted


def test_a_page_whose_article_no_component_asks_for_is_labelled_alone(
    crawler_of: MakeCrawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    monkeypatch.setattr("scrapy_mss.crawl.page_work.article_of_labels", lambda *_: made.append(1))

    passed(TrainingMiddleware.from_crawler(crawler_of(MSS_WRAPPERS=RULES)), page(wrapped(1)))
    alone = list(made)
    crawler = crawler_of(MSS_WRAPPERS=RULES)
    ArticlePipeline.from_crawler(crawler)
    passed(TrainingMiddleware.from_crawler(crawler), page(wrapped(1)))

    assert (alone, made) == ([], [1])


@pytest.mark.parametrize("drops", [False, True])
def test_a_page_that_its_wrapper_misses_is_tokenized_once(
    crawler_of: MakeCrawler, monkeypatch: pytest.MonkeyPatch, drops: bool
) -> None:
    crawler = crawler_of(MSS_WRAPPERS=rules_with(drop_misses=drops))
    pipeline = ArticlePipeline.from_crawler(crawler)
    response, calls = page(plain(1)), list[str]()
    for module in ("scrapy_mss.wrappers.labeller", "scrapy_mss.article"):
        monkeypatch.setattr(f"{module}.tokenize", _counting(tokenize, "tokenize", calls))

    passed(TrainingMiddleware.from_crawler(crawler), response)
    (item,) = items_of(ArticleMiddleware.from_crawler(crawler), response, {"url": ""})
    processed(pipeline, item)

    assert calls == ["tokenize"]
    assert stat(crawler, "train/refused/no_match") == 1
    assert stat(crawler, "extract/dropped/wrapper_miss") == drops
    assert stat(crawler, "extract/source/model") == (not drops)


@pytest.mark.parametrize(
    "case",
    [
        ({}, True, "MSS_WORKERS needs", "INFO"),
        ({"MSS_WORKERS": 2}, True, "MSS_WORKERS needs", "WARNING"),
        ({}, False, "needs a POSIX system", "INFO"),
    ],
)
def test_where_there_can_be_no_workers_the_crawl_goes_on_and_says_so(
    crawler_of: MakeCrawler,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    case: tuple[dict[str, object], bool, str, str],
) -> None:
    settings, can_fork, needs, level = case
    caplog.set_level("INFO")
    monkeypatch.setattr(jobs, "can_have_workers", lambda: can_fork)
    extension = MssExtension.of(
        crawler_of(MSS_TRAIN=False, MSS_SITE_MEMORY=0, MSS_REPORT="off", **settings)
    )

    extension.open()

    levels = [each.levelname for each in caplog.records if needs in each.message]
    assert levels == [level]
    assert extension.jobs.pool is None


def test_what_takes_long_at_the_start_is_done_before_the_event_loop_runs(
    crawler_of: MakeCrawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    public_suffixes.cache_clear()
    extension = MssExtension.of(crawler_of())
    monkeypatch.setattr(jobs, "runs_asyncio", lambda: True)
    monkeypatch.setattr(_compat, "every", lambda *_: None)
    monkeypatch.setattr(jobs, "WorkerPool", lambda *_: opened.append("workers"))

    extension.open()

    assert public_suffixes.cache_info().currsize == 1
    assert opened == ["workers"]


def test_checkpoints_are_written_where_workers_cannot_be_started(
    crawler_of: MakeCrawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scrapy logs the error, and the crawl goes on in its own process."""
    calls: list[str] = []
    extension = MssExtension.of(crawler_of())
    monkeypatch.setattr(jobs, "WorkerPool", lambda *_: 1 / 0)
    monkeypatch.setattr(jobs, "runs_asyncio", lambda: True)
    monkeypatch.setattr(_compat, "every", lambda *_: calls.append("timer"))

    with pytest.raises(ZeroDivisionError):
        extension.open()

    assert calls == ["timer"]
    assert extension.jobs.pool is None
