"""Papers that answer with every fault at once, and components that drop what comes of them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from itemadapter import ItemAdapter
from scrapy import Request, Spider
from scrapy.core.scheduler import Scheduler
from scrapy.exceptions import IgnoreRequest
from twisted.internet.defer import Deferred

from tests.helpers.local_server import Answer
from tests.page_cases import PAGES
from tests.spiders.paper import DAY, Paper

TIMEOUT = 1.0  # seconds: what a crawl waits for the page that takes longer
RELEASED = 3  # articles that are held back first
LARGE = 300_000  # bytes: what it takes


def _html(case: str) -> Answer:
    return 200, {"Content-Type": "text/html"}, (PAGES / case / "source.html").read_bytes()


# By the fate that an article with this answer should have.
ANSWERS: dict[str, Answer] = {
    "failed/gone": (410, {}, b""),
    "failed/forbidden": (403, {}, b""),
    "failed/server": (500, {}, b""),
    "failed/status": (418, {}, b""),
    "failed/challenge": _html("challenge-of-cloudflare"),
    "failed/too_large": (200, {"Content-Type": "text/html"}, b"x" * 2 * LARGE),
    "failed/robots": _html("live-blog"),
    "failed/error": _html("live-blog"),
    "other/not_html": (200, {"Content-Type": "application/pdf"}, b"%PDF-1.7"),
    "other/consent": _html("consent-wall"),
    "other/shell": _html("shell-of-react"),
    "other/teaser": _html("paywall-teaser"),
    "other/error": _html("page-not-found"),
    "dropped/ignored": _html("live-blog"),
    "not_yet": _html("live-blog"),
}
OTHERWISE = ("failed/timeout", "failed/redirects", "failed/off_site")


def path_of(fate: str) -> str:
    kind = "pdf" if fate == "other/not_html" else "html"
    return f"/{DAY}/the-long-story-of-{fate.replace('/', '-').replace('_', '-')}.{kind}"


_ANSWERS = {path_of(fate): answer for fate, answer in ANSWERS.items()}


@dataclass(slots=True)
class Faulty(Paper):
    """A paper, some of whose articles are answered as their path says."""

    elsewhere: str = ""  # a page of another site
    twice: str = ""  # the path of an article that is at another one, too
    again: str = ""  # and of one that the front page names beside the feed

    @classmethod
    def on(cls, host: str) -> Faulty:
        return cls(host=host)

    def publish_faults(self) -> None:
        for fate in (*ANSWERS, *OTHERWISE):
            known = self.publish(90, "feed")
            self.stories[path_of(fate)] = self.stories.pop(known)

    def answer(self, path: str, known: str | None) -> Answer:
        if path in _ANSWERS:
            return _ANSWERS[path]
        if path == path_of("failed/off_site"):
            return 302, {"Location": self.elsewhere}, b""
        if path == path_of("failed/redirects"):
            return 302, {"Location": f"{path}?{time.monotonic_ns()}"}, b""
        if path == path_of("failed/timeout"):
            time.sleep(2 * TIMEOUT)
        return Paper.answer(self, path, known)

    def page(self, path: str) -> tuple[str, bytes] | None:
        if path == "/elsewhere":
            return "text/html", _html("page-not-found")[2]
        if path == "/robots.txt":
            rules = f"User-agent: *\nDisallow: {path_of('failed/robots')}\n"
            return "text/plain", f"{rules}Sitemap: {self.url(self.sitemap)}\n".encode()
        return Paper.page(self, self.twice if path == path_of("dropped/duplicate") else path)

    def _front(self, where: str) -> str:
        front = Paper._front(self, where)  # noqa: SLF001 - its class has slots
        return f"{front}<a href='{self.again}'>The story</a>"


class Meddling:
    """A downloader middleware that drops a request, and is impatient with another."""

    async def process_request(self, request: Request, spider: object = None) -> None:
        if path_of("dropped/ignored") in request.url:
            raise IgnoreRequest("not wanted")
        if path_of("failed/timeout") in request.url:
            request.meta["download_timeout"] = TIMEOUT


class Holding(Scheduler):
    """Holds articles of a host back until so many are announced and undecided; most for good."""

    def open(self, spider: Spider) -> Deferred[None] | None:
        self.held: list[Request] = []
        self.n_released = 0
        self.host, announced, undecided = spider.settings.getlist("HELD")
        self.until = {"mss/announced": announced, "mss/fate/not_yet": undecided}
        return super().open(spider)

    def has_pending_requests(self) -> bool:
        return bool(self.held) or super().has_pending_requests()

    def enqueue_request(self, request: Request) -> bool:
        if f"{self.host}:" in request.url and DAY in request.url:
            self.held.append(request)
            return True
        return super().enqueue_request(request)

    def next_request(self) -> Request | None:
        assert self.stats is not None
        found = super().next_request()
        if (
            found is None
            and self.n_released < RELEASED
            and all(self.stats.get_value(name) == n for name, n in self.until.items())
        ):
            self.until.clear()
            self.n_released += 1
            return self.held.pop()
        return found


class Dropping:
    """A spider middleware that drops a request."""

    async def process_spider_output(
        self, response: object, result: AsyncIterator[Any], spider: object = None
    ) -> AsyncIterator[Any]:
        async for each in result:
            if not isinstance(each, Request) or path_of("not_yet") not in each.url:
                yield each


class Raising:
    """A pipeline that fails."""

    def process_item(self, item: object, spider: object = None) -> object:
        if path_of("failed/error") in ItemAdapter(item)["url"]:
            raise ValueError("the pipeline is at fault")
        return item


COMPONENTS = {
    "SCHEDULER": "tests.spiders.faulty.Holding",
    "DOWNLOADER_MIDDLEWARES": {"tests.spiders.faulty.Meddling": 300},
    "SPIDER_MIDDLEWARES": {"tests.spiders.faulty.Dropping": 500},
    "ITEM_PIPELINES": {"tests.spiders.faulty.Raising": 900},
}
