"""Loads wrappers in a process that may use little more memory and processor time than it has.

    python limited.py MEMORY_MB CPU_SECONDS SOURCE …

Prints a JSON list: of each source the message of its `WrapperError`, or how many wrappers it has.
What exceeds a limit ends the process, or is a MemoryError.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from scrapy_mss.wrappers import WrapperError, load_wrappers


def outcome(source: str) -> str:
    try:
        return f"{len(load_wrappers(source))} wrappers"
    except WrapperError as error:
        return str(error)


def main(megabytes: int, cpu_seconds: int, sources: list[str]) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + megabytes * 2**20
    spent = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (spent + cpu_seconds, spent + cpu_seconds))
    sys.stdout.write(json.dumps([outcome(source) for source in sources]))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
