"""Processes that are killed at random moments, and what they had reported by then.

They are forked, so that a kill costs no start of Python. It needs a POSIX system.
"""

from __future__ import annotations

import os
import random
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TypeAlias

_KEY = struct.Struct("<Q")
MOST_KILLS = 50  # times as many as are asked for: a campaign ends where nothing ever gets done
KEY_SHIFT = 32  # a key is the number of its writer above that of what it has written

Report: TypeAlias = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Victim:
    """A process that works, and the end of the pipe that its reports come from."""

    pid: int
    reports: int

    @classmethod
    def started(cls, work: Callable[[Report], object]) -> Victim:
        """Have *work* done, which is never done; it is given what to report keys with."""
        reports, report = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if not pid:
            try:
                work(lambda key: os.write(report, _KEY.pack(key)))
            except BaseException:  # noqa: BLE001 - nothing of the parent may go on in here
                traceback.print_exc()
            finally:
                os._exit(1)
        os.close(report)
        return cls(pid, reports)

    def killed(self) -> set[int]:
        """Kill it; the keys that it has reported."""
        os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        if not os.WIFSIGNALED(status):
            raise RuntimeError("a writer failed before it was killed; its error is above")
        with os.fdopen(self.reports, "rb") as pipe:
            return {key for (key,) in _KEY.iter_unpack(pipe.read())}


def goes_on(wanted: int, kills: int, reported: Collection[int]) -> bool:
    """Whether a campaign of so many *wanted* kills goes on after so many *kills*.

    One in which nothing was *reported* says nothing: on a busy machine, the first writers may all
    be killed before they have done anything.
    """
    return kills < wanted or (not reported and kills < MOST_KILLS * wanted)


def killed_in_turn(
    victims: list[Victim], longest: float, chance: random.Random
) -> Iterator[set[int]]:
    """Kill each at a moment of its own, in the mean after half of *longest* seconds of its own."""
    started = time.monotonic()
    moments = sorted(chance.uniform(0, longest * len(victims)) for _ in victims)
    chance.shuffle(victims)
    for victim, moment in zip(victims, moments, strict=True):
        time.sleep(max(0.0, started + moment - time.monotonic()))
        yield victim.killed()
