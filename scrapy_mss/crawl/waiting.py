"""Waits in the event loop for the work of threads.

Neither errors nor cancellation are propagated: asyncio logs the error of a future that nobody
awaits, and a cancelled future is lost to all others that wait for it.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Any


async def finished(future: Future[Any]) -> None:
    """Wait until *future* is done, which need not mean that it has a result."""
    if future.done():
        return
    ours = asyncio.wrap_future(future)
    ours.add_done_callback(_asked)
    await asyncio.wait([ours])


def _asked(future: asyncio.Future[Any]) -> None:
    """Ask for the error of *future*, so that asyncio knows that somebody has."""
    if not future.cancelled():
        future.exception()
