from __future__ import annotations

import socket
import sys
from typing import NoReturn

import pytest

from research.systems import SYSTEMS, create
from research.systems.external import PEERS, External, paragraphs

# What each row imports; two rows of one library are the same library with other settings.
MODULES = {
    "trafilatura": "trafilatura",
    "trafilatura-fast": "trafilatura",
    "trafilatura-precision": "trafilatura",
    "trafilatura-recall": "trafilatura",
    "readability": "readability",
    "boilerpy3": "boilerpy3",
    "justext": "justext",
    "resiliparse": "resiliparse",
    "newspaper4k": "newspaper",
    "goose3": "goose3",
    "turbohtml": "turbohtml",
}


def made(peer: str) -> External:
    """The system, where its library is installed."""
    pytest.importorskip(MODULES[peer], reason="one of the peers")
    return External(peer=peer)


class Without:
    """Finds no module of one name, as where it is not installed."""

    def __init__(self, name: str) -> None:
        self.name = name

    def find_spec(self, name: str, *_: object) -> None:
        if name == self.name:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


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


def test_every_row_is_a_system_and_tested_here() -> None:
    rows = {
        name: system.options
        for name, system in SYSTEMS.items()
        if system.home == "research.systems.external:External"
    }

    assert rows == {name: {"peer": name} for name in PEERS}
    assert set(PEERS) == set(MODULES)


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


@pytest.mark.parametrize("peer", ["trafilatura", "trafilatura-recall", "resiliparse"])
def test_comments_are_off_where_there_is_a_switch_for_them(peer: str) -> None:
    said = "I think that the bridge is a good thing for all of us and for the town. " * 3
    comments = f'<section id="comments" class="comments"><p>{said}</p><p>{said}</p></section>'

    text = made(peer).extract(english(comments=comments))

    assert "Part 7" in text
    assert "good thing" not in text


@pytest.mark.parametrize("peer", PEERS)
def test_nothing_is_made_of_nothing(peer: str) -> None:
    assert made(peer).extract("") == made(peer).extract(" \n\t") == ""


@pytest.mark.parametrize(
    ("less", "more"),
    [("trafilatura-precision", "trafilatura"), ("trafilatura", "trafilatura-recall")],
)
def test_the_settings_of_a_row_reach_the_library(
    less: str, more: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trafilatura = pytest.importorskip("trafilatura", reason="one of the peers")
    asked: list[dict[str, object]] = []
    monkeypatch.setattr(trafilatura, "extract", lambda _, **given: asked.append(given))

    for peer in (less, more):
        External(peer=peer).extract("<p>x")

    assert asked[0] != asked[1]
    assert all(given["include_comments"] is False for given in asked)


def test_what_a_library_raises_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_: str) -> NoReturn:
        raise ZeroDivisionError

    monkeypatch.setitem(PEERS, "trafilatura", lambda: failing)

    with pytest.raises(ZeroDivisionError):
        External(peer="trafilatura").extract("<p>x")


def test_a_library_that_gives_none_found_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PEERS, "trafilatura", lambda: lambda _: None)

    assert External(peer="trafilatura").extract("<p>x") == ""


def test_a_missing_library_is_reported_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "goose3"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Without("goose3"), *sys.meta_path])

    with pytest.raises(ImportError) as caught:
        create("goose3")

    assert str(caught.value) == "goose3 needs goose3, run: make research"
    assert caught.value.name == "goose3"


def test_an_unknown_peer_is_rejected_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="no peer is called 'dragnet'; there are trafilatura, "):
        External(peer="dragnet")


def test_each_line_is_a_paragraph() -> None:
    assert paragraphs("\n one \n\n\n\ttwo\r\nthree\n") == "one\n\ntwo\n\nthree"
    assert paragraphs(" \n ") == ""
