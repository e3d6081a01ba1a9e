"""An extension by which names have addresses that change, as those of a hostile name server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scrapy.crawler import Crawler
from scrapy.resolver import CachingThreadedResolver, dnscache
from twisted.internet.base import ReactorBase
from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.error import DNSLookupError

PUBLIC, PRIVATE = "93.184.216.34", "127.0.0.1"
# The answers in turn, the last one again and again; an empty one is a failure.
ANSWERS: Final = {
    "failing.example": ["", PRIVATE],
    "dotted.example": [PUBLIC],
    "dotted.example.": [PRIVATE],
}


class _Server:
    """What Scrapy's resolver asks."""

    def __init__(self) -> None:
        self._answers = {name: list(answers) for name, answers in ANSWERS.items()}

    def answer(self, name: str) -> Deferred[str]:
        answers = self._answers[name]
        address = answers.pop(0) if len(answers) > 1 else answers[0]
        return succeed(address) if address else fail(DNSLookupError(name))


class _Resolver(CachingThreadedResolver):
    """Scrapy's, with its cache."""

    def __init__(self, reactor: ReactorBase) -> None:
        super().__init__(reactor, 100, 1)
        self._server = _Server()

    def getHostByName(self, name: str, timeout: Sequence[int] = ()) -> Deferred[str]:  # noqa: N802
        if name in dnscache:
            return succeed(dnscache[name])
        return self._server.answer(name).addCallback(self._cache_result, name)


class ChangingNames:
    """Installs the resolver."""

    @classmethod
    def from_crawler(cls, _: Crawler) -> ChangingNames:
        from twisted.internet import reactor

        _Resolver(reactor).install_on_reactor()
        return cls()
