from __future__ import annotations

import socket
from typing import NoReturn

import pytest

from research.systems.external import PEERS, External
from tests.helpers.suggested_sites import article, text_of


def made(peer: str) -> External:
    """The system, where its library is installed."""
    try:
        return External(peer=peer)
    except ImportError:
        pytest.skip("one of the peers")


@pytest.fixture(autouse=True)
def _nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a connection was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize("peer", PEERS)
def test_an_article_is_found_and_the_menu_is_not(peer: str) -> None:
    page, paragraphs = article(1).html, text_of(1).split("\n\n")
    picture = '<p><img src="http://127.0.0.1:9/one.png" width="900" height="900"></p>'

    text = made(peer).extract(page.replace("<p>", f"{picture}<p>", 1))

    found = text.split("\n\n")
    assert [part for part in found if part in paragraphs] == paragraphs
    assert all(part == part.strip() and "\n" not in part for part in found)
    assert "Sport" not in text
    assert "rights reserved" not in text
