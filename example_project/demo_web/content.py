"""What a site publishes, before any markup.

Only the blocks of an article or a live blog are what an extractor should find; captions, comments
and whatever a template adds are what it should leave.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

ARTICLES = ("article", "live")
START = datetime(2024, 1, 8)  # noqa: DTZ001 - made-up papers print the local time


class Link(NamedTuple):
    """Where something is found."""

    title: str
    path: str


class Author(NamedTuple):
    """Who writes, and what the box below a story says about them."""

    title: str
    path: str
    bio: str


class Block(NamedTuple):
    """A piece of main text: `p` paragraph or `h` subhead; *time* is that of a live blog's post."""

    kind: str
    text: str
    time: str = ""


class Comment(NamedTuple):
    """What a reader wrote below a story."""

    user: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page of any kind; what its kind does not have is empty."""

    kind: str
    title: str
    path: str
    summary: str = ""
    blocks: tuple[Block, ...] = ()
    captions: tuple[str, ...] = ()
    comments: tuple[Comment, ...] = ()
    listed: tuple[Page, ...] = ()
    section: Link | None = None
    author: Author | None = None
    tags: tuple[Link, ...] = ()
    published: datetime = START

    @property
    def expected(self) -> str:
        """What an extractor should find here."""
        return "\n\n".join(block.text for block in self.blocks) if self.kind in ARTICLES else ""
