"""Work in forked children, each as fresh as the process that it is forked from.

What a page does to caches, memory or the whole process stays in the child; the parent gets the
results one by one, and learns how the child ended. It needs a POSIX system.
"""

from __future__ import annotations

import gc
import resource
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

import psutil

Result = TypeVar("Result")


class ChildEndedError(RuntimeError):
    """A child was ended before it was done; the message says by what."""


def forked(results: Callable[[], Iterable[Result]]) -> Iterator[Result]:
    """The *results* that a child makes, as they come; a `ChildEndedError` if it is ended.

    It begins at once, whether anybody asks for the first result or not.
    """
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_send, args=(results, sender))
    child.start()
    sender.close()
    return _received(child, receiver)


def _received(child: BaseProcess, receiver: Connection[Any, Any]) -> Iterator[Any]:
    with receiver, suppress(EOFError):
        while True:
            yield receiver.recv()
    child.join()
    if child.exitcode:
        code = child.exitcode
        raise ChildEndedError(signal.Signals(-code).name if code < 0 else f"exit code {code}")


def _send(results: Callable[[], Iterable[Result]], sender: Connection[Any, Any]) -> None:
    gc.freeze()  # or each collection would look at all that came with the fork, and copy it
    with sender:
        for result in results():
            sender.send(result)


def limit_memory(extra: int) -> None:
    """Let this process take so many bytes more than it has; then its next page is an exception."""
    taken = psutil.Process().memory_info().vms
    resource.setrlimit(resource.RLIMIT_AS, (taken + extra, taken + extra))


def limit_cpu(seconds: float) -> None:
    """End this process after so many more seconds of processor time; 0 lifts the limit.

    By the signal's default action: not even a loop in C goes on.
    """
    signal.setitimer(signal.ITIMER_PROF, seconds)
