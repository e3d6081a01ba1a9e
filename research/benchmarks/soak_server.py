"""Made-up news sites on this machine, each a server process with an address of its own.

    with serving(4) as sites:
        sites[0].url(7)

All pages are articles, each with a word that no other page has. The processes end when their
standard input does, so they outlive nobody.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from research.benchmarks import local_server
from research.benchmarks.synthetic import section, words

N_WORDS = 40  # of the paragraph that only this page has
MAX_SECTIONS = 2  # of 6 KB each


@dataclass(frozen=True, slots=True)
class Site:
    """One of the sites while it is served."""

    host: str
    port: int

    def url(self, number: int) -> str:
        return f"http://{self.host}:{self.port}/{number}"


def own_word(number: int) -> str:
    """The word that is in the article of the page *number* and in no other."""
    return f"number{number}of"


def story(number: int) -> str:
    """The page *number* of any site."""
    chance = random.Random(number)
    title = words(chance, 6).capitalize()
    own = f"<p>{own_word(number).capitalize()} {words(chance, N_WORDS)}.</p>"
    sections = "".join(section(chance) for _ in range(chance.randint(1, MAX_SECTIONS)))
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta property="og:type" content="article"></head><body><h1>{title}</h1>'
        f"{sections.replace('<article>', f'<article>{own}', 1)}</body></html>"
    )


class _Handler(local_server.Handler):
    def do_GET(self) -> None:  # noqa: N802 - the base class calls it so
        number = self.path.strip("/")
        body = story(int(number)).encode() if number.isdecimal() else b""
        headers = {"Content-Type": "text/html; charset=utf-8"}
        self.send(200 if body else 404, headers, body)


@contextmanager
def serving(count: int) -> Iterator[list[Site]]:
    """So many sites, served as long as the context lasts."""
    with ExitStack() as stack:
        yield [stack.enter_context(_served(f"127.0.0.{n}")) for n in range(1, count + 1)]


@contextmanager
def _served(host: str) -> Iterator[Site]:
    with local_server.serving("research.benchmarks.soak_server", host) as port:
        yield Site(host, port)


def main(host: str) -> None:
    with local_server.Server((host, 0), _Handler) as server:
        local_server.serve([server], server.server_port)


if __name__ == "__main__":
    main(sys.argv[1])
