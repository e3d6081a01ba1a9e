"""Training away from the event loop: real crawls with real workers, some of whose pages misbehave.

The query of an address says what its page does to the process that labels it.
"""

from __future__ import annotations

import asyncio
import gc
import operator
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from scrapy.crawler import Crawler

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
from tests.plugin.crawling import ADDON, Crawl, Job, crawl, environment
from tests.plugin.models import assert_same_counts, learned, stored_model
from tests.plugin.parts import items_of, page, passed, processed, stat
from tests.plugin.site import RULES, Site, plain, rules_with, story, wrapped

MakeCrawler = Callable[..., Crawler]
N_PAGES = 30
LIMIT = 300.0  # seconds; no test waits that long unless something is wrong
FAULTS = {"hang": "timeout", "killed": "crash", "greedy": "memory", "error": "error"}
MISBEHAVING = """
import os, signal, time
from scrapy_mss.crawl.page_work import PageWork

sound = PageWork._labelled

def labelled(self, page, wrapper):
    if "hang" in page.url:
        time.sleep(600)
    if "killed" in page.url:
        os.kill(os.getpid(), signal.SIGKILL)
    if "greedy" in page.url:
        held = [bytearray(2**24) for _ in range(100)]
    if "error" in page.url:
        raise ZeroDivisionError(page.url)
    if "slow" in page.url:
        time.sleep(0.2)
    return sound(self, page, wrapper)

PageWork._labelled = labelled
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("training")
    (made / "sitecustomize.py").write_text(MISBEHAVING)
    return made


@pytest.fixture(scope="module")
def crawls(folder: Path, site: Site) -> dict[str, Crawl]:
    urls = site.urls("wrapped", range(N_PAGES))
    known = {**ADDON, "MSS_WRAPPERS": RULES}
    asked = {
        str(n): Job(
            arguments={"urls": urls},
            settings={**known, "MSS_WORKERS": n, "MSS_STORE": str(folder / f"store-{n}")},
            checkpoint_pages=7,
        )
        for n in (0, 2)
    }
    asked["queue"] = Job(
        arguments={
            "urls": [f"{url}?slow" for url in urls[:12]],
            "meta": {"mss_skip_extraction": 1},
        },
        settings={**known, "MSS_STORE": str(folder / "store-queue")},
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder))
        return dict(zip(asked, crawl(folder, asked.values()), strict=True))


@pytest.mark.parametrize("workers", ["0", "2"])
def test_every_page_is_learned_once_wherever_it_is_labelled(
    crawls: dict[str, Crawl], folder: Path, workers: str
) -> None:
    done, stored = crawls[workers], stored_model(folder / f"store-{workers}")

    assert done.mss("train/seen") == done.mss("train/learned") == N_PAGES
    assert done.mss("wrapper/127.0.0.1/hit") == N_PAGES
    assert done.mss("extract/pages") == done.mss("extract/source/wrapper") == N_PAGES
    assert done.mss("train/tokens") == crawls["0"].mss("train/tokens") > 0
    assert_same_counts(stored, learned(range(N_PAGES)))
    assert len(stored.learned_pages) == N_PAGES


def test_items_do_not_depend_on_workers(crawls: dict[str, Crawl]) -> None:
    here, elsewhere = (
        {url: {**fields, "crawled": ""} for url, fields in crawls[name].by_url().items()}
        for name in ("0", "2")
    )

    assert len(here) == N_PAGES
    assert elsewhere == here


@pytest.mark.slow("pages that misbehave take their time")
def test_pages_that_misbehave_are_given_up_and_told_once_and_the_others_learned(
    folder: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = site.urls("wrapped", range(8))
    faulty = [f"{urls[0]}?{fault}" for fault in FAULTS]
    monkeypatch.setenv("PYTHONPATH", str(folder))
    values = {"MSS_WRAPPERS": RULES, "MSS_STORE": str(folder / "store-faults"), "MSS_TIMEOUT": 4}
    asked = Job(arguments={"urls": [*urls[:4], *faulty, *urls[4:]]}, settings={**ADDON, **values})

    (done,) = crawl(folder, [asked])

    for fault, reason in FAULTS.items():
        assert done.mss(f"train/refused/{reason}") == done.mss(f"extract/failed/{reason}") == 1
        assert not [url for url in done.by_url() if fault in url]
    assert done.mss("train/learned") == len(done.items) == 8
    assert_same_counts(stored_model(folder / "store-faults"), learned(range(8)))
    assert done.stats["finish_reason"] == "finished"
    warnings = [text for text in done.logged("WARNING") if "gave up on" in text]
    (error,) = done.logged("ERROR")
    assert len(warnings) == 3
    assert "?error" in error
    assert "ZeroDivisionError" in error


def test_pages_in_the_queue_are_learned_before_the_crawl_closes(
    crawls: dict[str, Crawl], folder: Path
) -> None:
    assert crawls["queue"].mss("train/learned") == 12
    assert_same_counts(stored_model(folder / "store-queue"), learned(range(12)))


def test_crawls_without_misbehaving_pages_log_nothing(crawls: dict[str, Crawl]) -> None:
    for name in ("0", "2", "queue"):
        assert crawls[name].error == "", name
        assert crawls[name].logged("ERROR") == crawls[name].logged("WARNING") == [], name


SPIDER = """
import scrapy
from tests.plugin.crawling import ADDON, QUIET
from tests.plugin.site import RULES

class Slow(scrapy.Spider):
    name = "slow"
    custom_settings = {**QUIET, **ADDON, "MSS_STORE": "store", "MSS_WRAPPERS": RULES}

    async def start(self):
        for number in range(400):
            yield scrapy.Request(f"{self.url}/{number}?slow", meta={"mss_skip_extraction": True})

    def parse(self, response):
        print("a page", flush=True)
"""


@pytest.mark.slow("a crawl that is interrupted")
def test_an_interrupted_crawl_learns_what_it_has_fetched(
    site: Site, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(folder))
    (tmp_path / "slow.py").write_text(SPIDER)
    command = [sys.executable, "-m", "scrapy", "runspider", "slow.py", "-s", "JOBDIR=job"]
    with subprocess.Popen(
        [*command, "-a", f"url={site.url('/wrapped')}"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        for _ in range(6):
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, log = process.communicate(timeout=600)

    counted = {name: int(n) for name, n in re.findall(r"'mss/train/(seen|learned)': (\d+)", log)}
    assert 6 <= counted["learned"] == counted["seen"] < 400
    assert stored_model(tmp_path / "store").bayes.pages == counted["learned"]


# Without a crawl


class Waiting:
    """Begins jobs that are done when the test says so."""

    def __init__(self) -> None:
        self.jobs: list[Future[PageAnswer]] = []

    def begin(self, page: PageRequest) -> Future[PageAnswer]:
        self.jobs.append(Future())
        return self.jobs[-1]

    def finish(self, number: int) -> None:
        labels = LabelSummary(Reason.NO_MATCH, {}, 0)
        self.jobs[number].set_result(PageAnswer(ArticleResult(), labels))


def test_the_crawl_waits_while_too_many_pages_are_under_way(
    crawler_of: MakeCrawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawler, bound, waiting = crawler_of(MSS_WRAPPERS=RULES), PAGES_A_WORKER, Waiting()
    part = TrainingMiddleware.from_crawler(crawler)
    monkeypatch.setattr(MssExtension.of(crawler).jobs, "begin", waiting.begin)

    async def asked() -> tuple[bool, bool]:
        for _ in range(bound):
            response = page(wrapped(1))
            assert response.request is not None
            await part.process_response(response.request, response)
        last = page(wrapped(1))
        assert last.request is not None
        passing = asyncio.create_task(part.process_response(last.request, last))
        await asyncio.wait([passing], timeout=0.1)
        waited = not passing.done()
        waiting.finish(2)
        await passing
        for number in {*range(bound + 1)} - {2}:
            waiting.finish(number)
        await MssExtension.of(crawler).trainer.drain()
        return waited, passing.done()

    assert asyncio.run(asked()) == (True, True)
    assert stat(crawler, "train/refused/no_match") == bound + 1


async def _enough(passed_on: Sequence[int], number: int) -> None:
    """Wait for so many, however slow the machine is; one too many would come right after them."""
    while len(passed_on) < number:
        await asyncio.sleep(0)
    for _ in range(100):
        await asyncio.sleep(0)


def test_the_end_of_a_page_lets_one_other_begin_the_one_that_came_first(
    crawler_of: MakeCrawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawler, waiting = crawler_of(MSS_WRAPPERS=RULES), Waiting()
    part = TrainingMiddleware.from_crawler(crawler)
    monkeypatch.setattr(MssExtension.of(crawler).jobs, "begin", waiting.begin)
    passed_on: list[int] = []

    async def passing(number: int) -> None:
        response = page(wrapped(number))
        assert response.request is not None
        await part.process_response(response.request, response)
        passed_on.append(number)

    async def asked() -> list[list[int]]:
        told = []
        tasks = [asyncio.create_task(passing(n)) for n in range(PAGES_A_WORKER + 3)]
        for number in range(4):
            await asyncio.wait_for(_enough(passed_on, PAGES_A_WORKER + number), LIMIT)
            told.append(list(passed_on))
            waiting.finish(number)
        await asyncio.wait(tasks)
        for number in range(4, PAGES_A_WORKER + 3):
            waiting.finish(number)
        await MssExtension.of(crawler).trainer.drain()
        return told

    told = asyncio.run(asked())

    assert told == [list(range(PAGES_A_WORKER + n)) for n in range(4)]


def test_a_page_that_is_labelled_again_for_its_article_is_one_hit(
    crawler_of: MakeCrawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a callback asks for the article of a page whose items are skipped."""
    crawler, waiting = crawler_of(MSS_WRAPPERS=RULES), Waiting()
    extension = MssExtension.of(crawler)
    monkeypatch.setattr(extension.jobs, "begin", waiting.begin)
    response = page(wrapped(1), mss_skip_extraction=True)

    async def asked() -> None:
        await extension.trainer.train(response, article=False)
        reading = asyncio.create_task(extension.reader_for_component().article_of(response))
        await asyncio.sleep(0)
        for number in range(2):
            waiting.finish(number)
        await reading
        await extension.trainer.drain()

    asyncio.run(asked())
    assert stat(crawler, "wrapper/127.0.0.1/miss") == 1


class Losing:
    """A pool in which each page meets an exception that is none of the page's."""

    cannot_start = False

    def submit(self, _page: PageRequest) -> Future[PageAnswer]:
        return ThreadPoolExecutor(1).submit(operator.truediv, 1, 0)


def test_an_exception_of_the_pool_is_told_once_however_many_wait(
    crawler_of: MakeCrawler, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = MssExtension.of(crawler_of()).jobs
    monkeypatch.setattr(jobs, "pool", Losing())

    async def asked() -> set[str]:
        job = jobs.begin(PageRequest("", "http://127.0.0.1/lost"))
        answers = await asyncio.gather(*[answered(job) for _ in range(3)])
        await asyncio.sleep(0)
        return {answer.failure for answer in answers}

    assert asyncio.run(asked()) == {"error"}
    gc.collect()
    (told,) = [each.message for each in caplog.records if each.levelname == "ERROR"]
    assert "http://127.0.0.1/lost" in told


def test_a_page_is_labelled_and_read_once_for_training_and_its_items(
    crawler_of: MakeCrawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scrapy_mss import metadata
    from scrapy_mss.crawl import page_work

    calls: list[str] = []
    for module, name in ((page_work, "label"), (page_work, "tokenize"), (metadata, "read_tokens")):
        monkeypatch.setattr(module, name, _counting(getattr(module, name), name, calls))
    crawler, response = crawler_of(MSS_WRAPPERS=RULES), page(wrapped(1))
    pipeline = ArticlePipeline.from_crawler(crawler)

    passed(TrainingMiddleware.from_crawler(crawler), response)
    items = items_of(ArticleMiddleware.from_crawler(crawler), response, {"url": ""}, {"url": ""})
    first, second = processed(pipeline, *items)

    assert first["text"] == second["text"]
    assert story("wrapped", 1).paragraphs[0] in first["text"]
    assert sorted(calls) == ["label", "read_tokens", "tokenize"]
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
    for module in ("scrapy_mss.crawl.page_work", "scrapy_mss.article"):
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

    told = [record for record in caplog.records if needs in record.message]
    assert [record.levelname for record in told] == [level]
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
