"""Workers by themselves, without a crawl.

They read pages by `MISBEHAVING`: the address says what a page does.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partialmethod
from pathlib import Path
from typing import Any, TypeVar

import pytest
from scrapy.settings import Settings

from scrapy_mss.article import ArticleResult, ModelState, read_article
from scrapy_mss.crawl import pool, processes
from scrapy_mss.crawl.jobs import PageJob, PageJobs, answered
from scrapy_mss.crawl.pool import NoWorkerError, WorkerPool, _Worker
from scrapy_mss.crawl.processes import Child
from scrapy_mss.crawl.wire import ModelChanges, PageAnswer, PageRequest
from scrapy_mss.crawl.worker import Limits, resident
from scrapy_mss.models.files import bundled_model, with_bundled
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.settings import read as read_settings
from tests.plugin.models import labelled, learned
from tests.plugin.processes import LIMIT, eventually, worker_processes
from tests.plugin.site import index, plain

pytestmark = pytest.mark.any_scrapy("pools of processes; of Scrapy they have a Settings object")

T = TypeVar("T")

MODEL = bundled_model()  # of the tests whose pages matter little

# What processes begin with here: without the model of languages it takes half the time.
QUICK = 'import sys; sys.modules["py3langid"] = None\n'
MISBEHAVING = """
import os, subprocess, sys, time
import scrapy_mss.article
from scrapy_mss.crawl import processes

sound = scrapy_mss.article.read_article

def dripping(stream, answer):
    for byte in processes.message(bytes(1_000)):
        stream.write(bytes([byte]))
        stream.flush()
        time.sleep(0.1)

def read_article(html, url, state, extractor):
    if "slow" in url:
        open(os.environ["BEGUN"], "w").close()
        time.sleep(600)
    if "crash" in url:
        os._exit(3)
    if "drip" in url:
        sys.modules["scrapy_mss.crawl.worker"].send = dripping
    if "error" in url:
        raise ZeroDivisionError(url)
    if "answer" in url:
        processes.message = lambda _: bytes.fromhex(url.rpartition("/")[2])
    if "print" in url:
        print("what a library has to say")
        sys.stdout.flush()
        os.write(1, b"and past Python")
    if "input" in url:
        url += sys.stdin.read() + subprocess.check_output(["cat"], text=True)
    return sound(html, url, state, extractor)

scrapy_mss.article.read_article = read_article
"""


@pytest.fixture(autouse=True)
def _quick_start(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What workers load, and pauses between tries to start one, are not what is tested."""
    folder = tmp_path_factory.mktemp("quick")
    (folder / "sitecustomize.py").write_text(QUICK)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(pool, "FIRST_PAUSE", 0.001)


@pytest.fixture
def misbehaving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that is there once a worker has begun with a slow page."""
    begun = tmp_path / "begun"
    (tmp_path / "sitecustomize.py").write_text(QUICK + MISBEHAVING)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("BEGUN", str(begun))
    return begun


@pytest.fixture
def slow_pages_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slow pages have half a second, and no other page is too late on a busy machine."""
    answer, receive = WorkerPool._first_answer, Child.receive
    late = set[Child]()

    def first_answer(pool: WorkerPool, worker: _Worker) -> PageAnswer:
        (late.add if b"/slow" in worker.jobs[0].data else late.discard)(worker.child)
        return answer(pool, worker)

    def received(child: Child, expected: type[T], seconds: float) -> T:
        return receive(child, expected, 0.5 if child in late else seconds)

    monkeypatch.setattr(WorkerPool, "_first_answer", first_answer)
    monkeypatch.setattr(Child, "receive", received)


def pool_of(count: int, model: Model | ModelChanges, **more: object) -> WorkerPool:
    changes = model if isinstance(model, ModelChanges) else ModelChanges(model)
    options = {"MSS_WORKERS": count, "MSS_TIMEOUT": LIMIT, **more}
    return WorkerPool(changes, read_settings(Settings(options)))


def working(count: int, model: Model | ModelChanges, **more: object) -> closing[WorkerPool]:
    """So many workers, with settings of the test's own."""
    return closing(pool_of(count, model, **more))


def read(workers: WorkerPool, pages: Iterable[PageRequest]) -> list[ArticleResult | str]:
    """What becomes of *pages*, all asked for at once: what was found, or why it was given up."""
    return [result_of(job) for job in [workers.submit(page) for page in pages]]


def result_of(job: PageJob) -> ArticleResult | str:
    answer = job.result(LIMIT)
    return replace(answer.article, seconds=0) if answer.article else answer.failure


def page(name: str = "sound", source: str = "") -> PageRequest:
    return PageRequest(source or plain(1), f"http://127.0.0.1/{name}")


def here(model: Model, page: PageRequest) -> ArticleResult:
    return replace(read_article(page.html, page.url, ModelState.of(model)), seconds=0)


def test_workers_find_what_this_process_finds() -> None:
    model = with_bundled(learned(range(10)))
    strange = "\ud800 a lone surrogate, \x00, \u4e2d\u6587 and \U0001f600 " + plain(4)
    sources = [*map(plain, range(4)), index(1), "", strange, plain(5, paragraphs=3_000)]
    pages = [page(source=source or " ") for source in sources]

    with working(2, model) as workers:
        found = read(workers, pages)

    assert found == [here(model, each) for each in pages]


def test_a_result_names_the_state_of_the_model_that_read_its_page() -> None:
    """While the crawl learns, which is when the name of the state before or after is wrong."""
    model, pages = with_bundled(Model(DEFAULT)), [page(f"{n}", plain(n)) for n in range(12)]
    states, changes = {model.identifier: 0}, ModelChanges(model)

    with working(2, changes) as workers:
        read(workers, [page()] * 2)
        jobs: list[PageJob] = []
        for number in range(30):
            if number % 5 == 0:
                if len(jobs) > 4:  # whoever is slow, pages are read while the model learns
                    jobs[-4].result(LIMIT)
                jobs += map(workers.submit, pages[len(jobs) :][:2])
            with changes.changing():
                model.learned.bayes.learn(*labelled(number))
            states[model.identifier] = number + 1
        found = [job.result(LIMIT).article for job in jobs]

    used = {result.model_state for result in found if result}
    models = {state: with_bundled(learned(range(states[state]))) for state in used}
    assert len(used) > 2
    for result, each in zip(found, pages, strict=True):
        assert result is not None
        assert replace(result, seconds=0) == here(models[result.model_state], each)


def test_a_page_that_no_worker_read_did_not_take_too_long(misbehaving: None) -> None:
    with working(1, MODEL, MSS_TIMEOUT=0.5) as workers:
        assert read(workers, [page("slow")]) == ["timeout"]
        workers.cannot_start = True
        with pytest.raises(NoWorkerError):
            read(workers, [page()])


def test_an_answer_that_comes_byte_by_byte_takes_too_long(misbehaving: None) -> None:
    with working(1, MODEL, MSS_TIMEOUT=0.5) as workers:
        assert read(workers, [page("drip"), page()]) == ["timeout", here(MODEL, page())]


@pytest.mark.slow("processes that are killed")
def test_the_time_that_a_worker_takes_to_start_is_not_its_first_pages(misbehaving: None) -> None:
    """Starting takes longer than half a second; reading a short page seldom does."""
    with working(1, MODEL, MSS_TIMEOUT=0.5) as workers:
        expected = ["crash", here(MODEL, page())]

        assert any(read(workers, [page("crash"), page()]) == expected for _ in range(6))


def test_other_workers_go_on_beside_a_slow_page(misbehaving: Path) -> None:
    with working(2, MODEL) as workers:
        slow = workers.submit(page("slow"))
        assert eventually(misbehaving.exists)
        found = read(workers, [page()] * 9)

        assert found == [here(MODEL, page())] * 9
        assert not slow.done()


@pytest.mark.parametrize("count", [1, 2])
def test_a_page_that_goes_wrong_costs_none_of_those_sent_ahead(
    misbehaving: None, slow_pages_time_out: None, count: int
) -> None:
    chance = random.Random(count)
    long = f"{plain(7)}<!--{'x' * pool.SENT_AHEAD}-->"  # more than is sent ahead, and quick to read
    becomes = {
        "sound": here(MODEL, page()),
        "long": here(MODEL, page("long", long)),
        "crash": "crash",
        "error": "error",
        "slow": "timeout",
    }
    kinds = [*chance.choices([*becomes][:-1], (6, 2, 1, 1), k=16), "slow", "sound"]
    pages = [page(kind, long if kind == "long" else "") for kind in kinds]

    with working(count, MODEL) as workers:
        found = read(workers, pages)

    assert found == [becomes[kind] for kind in kinds]


class Hostile:
    """What runs code where it is unpickled."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self._file,)


@pytest.mark.slow("processes that are killed")
def test_a_hostile_answer_costs_its_page_and_its_worker_and_runs_no_code(
    misbehaving: None, tmp_path: Path
) -> None:
    executed = tmp_path / "executed"
    harmful = pickle.dumps(Hostile(executed))
    answers = [
        processes.LENGTH.pack(2**32 - 1),
        processes.message(PageRequest("", "")),
        processes.LENGTH.pack(len(harmful)) + harmful,
    ]
    hostile = [page(f"answer/{each.hex()}") for each in answers]

    with working(1, MODEL) as workers:
        found = read(workers, [*hostile, page()])

    assert found == ["crash"] * len(answers) + [here(MODEL, page())]
    assert not executed.exists()


def test_a_worker_has_its_next_page_before_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once: list[int] = [0]
    receive, send = Child.receive, Child.send

    def received(child: Child, expected: type[T], seconds: float) -> T:
        answer = receive(child, expected, seconds)
        at_once.append(at_once[-1] - 1)
        return answer

    def sent(child: Child, data: bytes) -> None:
        at_once.append(at_once[-1] + 1)
        send(child, data)

    with working(1, MODEL) as workers:
        read(workers, [page()])
        monkeypatch.setattr(Child, "receive", received)
        monkeypatch.setattr(Child, "send", sent)
        read(workers, [page()] * 20)

    assert max(at_once) == 1 + pool.PAGES_AHEAD


def test_a_page_that_comes_after_the_end_is_given_up() -> None:
    with working(1, MODEL) as workers:
        pass

    assert workers.submit(page()).cancelled()


def test_a_worker_that_is_killed_between_pages_costs_none() -> None:
    with working(1, MODEL) as workers:
        read(workers, [page()])
        (process,) = worker_processes()
        process.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

        assert read(workers, [page()]) == [here(MODEL, page())]


@pytest.mark.slow("processes that are killed")
def test_a_worker_is_replaced_after_so_many_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "PAGES_OF_A_WORKER", 3)
    processes = []

    with working(1, MODEL) as workers:
        for _ in range(7):
            assert read(workers, [page()]) == [here(MODEL, page())]
            processes += [each.pid for each in worker_processes()]

    first, second, third = dict.fromkeys(processes)
    assert processes == [first] * 2 + [second] * 2 + [third]


def test_what_a_worker_had_before_its_first_page_is_not_what_it_keeps_of_one() -> None:
    """Or one with a limit of less than twice that would be replaced after every page."""
    have = resident()
    memory = have + have // 2

    assert not Limits(1.0, memory, at_rest=have).needs_restart()
    assert Limits(1.0, memory, at_rest=have // 4).needs_restart()


@pytest.mark.slow("processes that are killed")
@pytest.mark.parametrize("with_model", [False, True])
def test_a_worker_says_nothing_where_the_crawl_is_killed_while_it_starts(
    with_model: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        process = processes.start(pool.WORKER, ["1.0", "article"], theirs.fileno())
    with ours, ours.makefile("wb") as stream:
        if with_model:
            processes.send(stream, (MODEL.profile.name, MODEL.classifier, None, []))

    assert process.wait(LIMIT) == 0
    assert capfd.readouterr().err == ""


@pytest.mark.slow("processes that are killed")
def test_a_worker_that_nobody_ends_ends_by_itself(
    misbehaving: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the crawl was killed in the middle of a page."""
    receive = Child.receive
    monkeypatch.setattr(Child, "receive", lambda child, expected, _: receive(child, expected))

    with working(1, MODEL, MSS_TIMEOUT=0.2) as workers:
        assert read(workers, [page("slow"), page()]) == ["crash", here(MODEL, page())]


class FailingOnce:
    """A call that raises an exception the first time, and then does what it stands for."""

    def __init__(self, call: Callable[..., Any], error: type[Exception]) -> None:
        self._call = call
        self._error: type[Exception] | None = error

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        error, self._error = self._error, None
        if error is not None:
            raise error
        return self._call(*arguments, **named)


@pytest.mark.slow("processes that are killed")
def test_no_page_gets_the_answer_to_another_that_could_not_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As when the crawl's own memory runs out in the middle of an answer."""
    other = page("other", plain(2))

    with working(1, MODEL) as workers:
        read(workers, [page()])
        failing = FailingOnce(Child.receive, MemoryError)
        monkeypatch.setattr(Child, "receive", partialmethod(failing))
        lost = workers.submit(page())
        assert isinstance(lost.exception(LIMIT), MemoryError)

        assert read(workers, [other]) == [here(MODEL, other)]


def test_a_worker_that_could_not_be_started_is_started_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A system may allow no more processes for a while."""
    monkeypatch.setattr(processes, "start", FailingOnce(processes.start, BlockingIOError))

    with working(1, MODEL) as workers:
        assert read(workers, [page(), page()]) == [here(MODEL, page())] * 2

    assert caplog.messages == []


@pytest.mark.slow("processes that are killed")
@pytest.mark.parametrize("killed", [pool.TRIES - 1, pool.TRIES])
def test_workers_that_are_killed_while_they_start_are_tried_again_for_a_while(
    killed: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where memory is short, the system may kill a worker, and the next ones while they start."""
    started = processes.start

    def killed_at_once(*arguments: Any) -> subprocess.Popen[bytes]:
        nonlocal killed
        process = started(*arguments)
        killed -= 1
        if killed >= 0:
            process.kill()
        return process

    is_persistent = killed == pool.TRIES
    with working(1, MODEL) as workers:
        read(workers, [page()])
        monkeypatch.setattr(processes, "start", killed_at_once)
        worker_processes()[0].kill()
        with pytest.raises(NoWorkerError) if is_persistent else nullcontext():
            assert eventually(lambda: read(workers, [page()]) == [here(MODEL, page())])

    assert workers.cannot_start == is_persistent
    assert ["after 6 tries" in text for text in caplog.messages] == [True] * is_persistent


def test_a_worker_that_hangs_while_it_starts_is_tried_twice(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # Nothing starts in no time; in 50 ms some worker has, whose model it was given once it read it.
    monkeypatch.setattr(pool, "START_SECONDS", 0.0)

    with working(1, MODEL) as workers, pytest.raises(NoWorkerError):
        read(workers, [page()])

    assert ["after 2 tries" in text for text in caplog.messages] == [True]


def test_a_page_that_cannot_be_sent_is_an_error_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failing = FailingOnce(processes.packed, MemoryError)

    async def read_some() -> list[PageAnswer]:
        jobs = PageJobs(read_settings(Settings({"MSS_WORKERS": 1})), ModelChanges(MODEL))
        with working(1, MODEL) as jobs.pool:
            monkeypatch.setattr(pool, "packed", failing)
            begun = [jobs.begin(page()), jobs.begin(page())]
            return [await answered(job) for job in begun]

    lost, sound = asyncio.run(read_some())
    assert lost.failure == "error"
    assert sound.article is not None


def test_pages_are_read_here_once_workers_cannot_be_started(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(pool, "WORKER", "scrapy_mss.crawl.no_such_module")

    async def read_some() -> list[PageAnswer]:
        jobs = PageJobs(read_settings(Settings({"MSS_WORKERS": 2})), ModelChanges(MODEL))
        with working(2, MODEL) as jobs.pool:
            begun = [jobs.begin(page()) for _ in range(5)]
            return [await answered(job) for job in [*begun, jobs.begin(page())]]

    for answer in asyncio.run(read_some()):  # most were queued before it is known
        assert answer.article is not None
        assert replace(answer.article, seconds=0) == here(MODEL, page())
    (error,) = caplog.messages
    assert "exit code 1" in error
    assert "MSS_WORKERS = 0" in error


def test_what_is_printed_is_no_answer_and_pages_are_no_input(misbehaving: None) -> None:
    pages = [page("print"), page("print"), page("input"), page()]

    with working(1, MODEL) as workers:
        assert read(workers, pages) == [here(MODEL, each) for each in pages]


def test_a_file_in_the_current_folder_is_no_module_of_a_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "resource.py").write_text("1 / 0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each])

    with working(1, MODEL) as workers:
        assert read(workers, [page()]) == [here(MODEL, page())]


def test_one_that_is_in_the_path_of_the_crawl_is(
    misbehaving: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *(each for each in sys.path if each != str(tmp_path))])

    with working(1, MODEL) as workers:
        assert read(workers, [page("error")]) == ["error"]


def test_a_frozen_program_has_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert processes.can_have_workers()
    monkeypatch.setattr(sys, "frozen", True, raising=False)

    assert not processes.can_have_workers()


def test_closing_ends_processes_at_once_whatever_they_do(misbehaving: None) -> None:
    workers = pool_of(2, learned(range(3)))
    jobs = [workers.submit(page("slow")) for _ in range(4)]
    assert eventually(lambda: len(worker_processes()) == 2)

    workers.close()

    # Had it waited for a page, that would have been answered or have timed out.
    assert all(job.cancelled() or job.result().failure == "crash" for job in jobs)
    assert worker_processes() == []
