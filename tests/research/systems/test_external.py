from __future__ import annotations

import socket
from typing import NoReturn

import pytest

from research.systems.external import PEERS, External


def made(peer: str) -> External:
    """The system, where its library is installed."""
    try:
        return External(peer=peer)
    except ImportError:
        pytest.skip("one of the peers")


def english(*, comments: str = "") -> str:
    """A page in English, which some of the libraries look for by its most frequent words."""
    sentence = "The council said on the day that it was to open the bridge to all of the people."
    body = "".join(f"<p>Part {n}. {' '.join([sentence] * 4)}</p>" for n in range(8))
    return (
        '<html lang="en"><head><title>The bridge</title></head><body>'
        '<nav><ul><li><a href="/a">Menu one</a></li><li><a href="/b">Menu two</a></li></ul></nav>'
        f"<article><h1>The bridge</h1>{body}</article>{comments}"
        '<footer><a href="/c">Privacy terms</a></footer></body></html>'
    )


@pytest.fixture(autouse=True)
def _nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a connection was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize("peer", PEERS)
def test_an_article_is_found_and_the_menu_is_not(peer: str) -> None:
    picture = '<article><p><img src="http://127.0.0.1:9/one.png" width="900" height="900"></p>'

    text = made(peer).extract(english().replace("<article>", picture))

    paragraphs = text.split("\n\n")
    parts = [part for part in paragraphs if part.startswith("Part ")]
    assert [part[:6] for part in parts] == [f"Part {n}" for n in range(8)]
    assert all(part.count("The council said") == 4 for part in parts)
    assert all(part == part.strip() and "\n" not in part for part in paragraphs)
    assert "Menu one" not in text
    assert "Privacy" not in text
