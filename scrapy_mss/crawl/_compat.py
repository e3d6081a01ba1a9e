"""Differences between Scrapy versions, in one place; drop a function with its version."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import scrapy
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from scrapy.utils.reactor import is_reactor_installed
from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


def every(seconds: float, call: Callable[[], object]) -> Any:  # noqa: ANN401 - one of two classes
    """Make *call* every *seconds* seconds, the first time after one interval.

    The result has `running`, which is false once a call has raised, and `stop`.
    """
    try:
        from scrapy.utils.asyncio import create_looping_call
    except ImportError:  # Scrapy 2.13
        from twisted.internet.task import LoopingCall

        timer: Any = LoopingCall(call)
    else:
        timer = create_looping_call(call)
    timer.start(seconds, now=False)
    return timer


async def download(crawler: Crawler, request: Request) -> Response:
    """What comes of *request*, through the downloader and its middlewares."""
    engine = crawler.engine
    assert engine is not None
    if hasattr(engine, "download_async"):
        return await engine.download_async(request)
    # Scrapy 2.13
    return await maybe_deferred_to_future(engine.download(request))


async def addresses_of(host: str) -> list[str]:
    """The IP addresses of *host* as a download has them: Scrapy's resolver keeps its answers.

    There is none if the name cannot be resolved.
    """
    if not is_reactor_installed():  # from Scrapy 2.19 on, downloads can do without
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, None)
        except (OSError, UnicodeError):
            return []
        return [str(address[0]) for *_, address in found]
    from twisted.internet import reactor

    resolved: list[str] = []
    complete: Deferred[list[str]] = Deferred()
    receiver = SimpleNamespace(
        resolutionBegan=lambda _: None,
        addressResolved=lambda address: resolved.append(address.host),
        resolutionComplete=partial(complete.callback, resolved),
    )
    resolver: Any = reactor  # untyped there
    try:
        resolver.nameResolver.resolveHostName(receiver, host)
    except UnicodeError:  # no name in ASCII
        return []
    return await maybe_deferred_to_future(complete)


def awaited(call: Callable[[], Coroutine[Any, Any, None]]) -> Any:  # noqa: ANN401 - one of two
    """What `close_spider` of a pipeline returns to have *call* awaited."""
    if scrapy.version_info >= (2, 14):
        return call()
    return deferred_from_coro(call())


def runs_asyncio() -> bool:
    """Whether coroutines of the crawl may await what belongs to asyncio."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def serialized_fields(exporter: Any, item: object) -> Iterable[tuple[str, Any]]:  # noqa: ANN401
    """The names and values that an item exporter exports of *item*."""
    is_public = hasattr(exporter, "get_serialized_fields")  # not in Scrapy 2.13
    name = "get_serialized_fields" if is_public else "_get_serialized_fields"
    return cast("Iterable[tuple[str, Any]]", getattr(exporter, name)(item))
