"""What a site publishes, before any markup: stories, galleries, lists and notices.

All values are frozen. The gold text of a story is the text of its blocks; whatever else a story
has (captions, the pull quote, comments, the author's biography) is what an extractor must leave.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Tag:
    """A subject with a page of its own; *key* stands in addresses."""

    label: str
    key: str


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes, and what the box below a story says about them."""

    name: str
    key: str
    bio: str


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of main text: `p` paragraph, `h` subhead, `li` list item, `post` a live blog's."""

    kind: str
    text: str
    when: datetime | None = None


@dataclass(frozen=True, slots=True)
class Comment:
    """What a reader wrote below a story; *depth* tells what answers what."""

    user: str
    text: str
    when: datetime
    depth: int
    likes: int


@dataclass(frozen=True)
class Story:
    """An article, or a live blog when *live*."""

    number: int
    topic: str
    title: str
    summary: str
    blocks: tuple[Block, ...]
    authors: tuple[Author, ...]
    published: datetime
    tags: tuple[Tag, ...]
    mentions: tuple[str, ...]  # names in the text that a site may link
    pull: str  # a sentence of the text that is shown again in large type
    captions: tuple[str, ...]
    comments: tuple[Comment, ...]
    slug: str
    live: bool = False

    @property
    def text(self) -> str:
        """The main text alone."""
        return "\n\n".join(block.text for block in self.blocks)

    @cached_property
    def words(self) -> int:
        """How many words the main text has."""
        return len(self.text.split())

    @property
    def updated(self) -> datetime:
        """When it was changed last: some minutes later, as if a slip had been mended."""
        return self.published + timedelta(minutes=self.number % 50)


@dataclass(frozen=True, slots=True)
class Gallery:
    """Pictures with captions and hardly any text."""

    number: int
    title: str
    summary: str
    captions: tuple[str, ...]
    published: datetime


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of a list of stories."""

    kind: str  # home, section, tag or author
    key: str
    title: str
    stories: tuple[Story, ...]
    number: int
    count: int  # of pages that the list has


@dataclass(frozen=True, slots=True)
class Notice:
    """Legal and other texts of the house, which are prose and no article."""

    key: str
    title: str
    paragraphs: tuple[str, ...]
