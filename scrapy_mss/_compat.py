"""What Scrapy's versions do differently, in one place; drop a function with its version."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Stoppable(Protocol):
    """A call that is made again and again until it is stopped."""

    def stop(self) -> None: ...


def every(seconds: float, call: Callable[[], object]) -> Stoppable:
    """Make *call* every so many *seconds*, the first time after the first of them."""
    try:
        from scrapy.utils.asyncio import create_looping_call
    except ImportError:  # Scrapy 2.13
        from twisted.internet.task import LoopingCall

        timer = LoopingCall(call)
    else:
        timer = create_looping_call(call)
    timer.start(seconds, now=False)
    return timer


def runs_asyncio() -> bool:
    """Whether coroutines of the crawl may await what belongs to asyncio."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def beside(call: Callable[[], T]) -> T:
    """The result of *call*, made in a thread where the crawl runs on asyncio, else here."""
    if runs_asyncio():
        return await asyncio.to_thread(call)
    return call()
