"""What the demo web hands out: pages as a server sends them, and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gold:
    """What an extractor should find in a page."""

    url: str
    title: str
    text: str  # the main text alone, paragraphs and subheads parted by empty lines
    authors: tuple[str, ...]
    published: str  # the day, YYYY-MM-DD
    language: str


@dataclass(frozen=True, slots=True)
class Page:
    """A response. *path* has the query too; *gold* is None for what is no article.

    *kind* is article, liveblog, gallery, home, section, tag, author, notice, missing, gone, moved,
    robots, private, feed, document or picture.
    """

    path: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    gold: Gold | None
    kind: str

    def header(self, name: str) -> str | None:
        """The value of the header *name*, which is given in lower case."""
        return next((value for key, value in self.headers if key.lower() == name), None)
