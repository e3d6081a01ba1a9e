"""Which of a page's texts are not its story: consent, comments, hidden text, other stories.

A page may have several texts that are all written like articles, so that the network, which sees
one block after the other, keeps all of them. Which one is the page's is told by its structure: what
an element is for, whether it is shown, to which text the title belongs. ``SIGNS`` is the table of
what tells that; they look where one walk over the page has found `Cues`, so that most pages cost
next to nothing.

None is certain by itself. A paywalled text is hidden, a column may be called comment, a list of
teasers may be what the page is about. So a sign holds only where enough text is left without what
it speaks against: the story itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np

from scrapy_mss.blocks.headline import HEADING_LEVELS
from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.attributes import attributes_of_tag
from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.lazy import lazy
from scrapy_mss.markup.tags import TAG_NUMBERS, tag_numbers
from scrapy_mss.markup.tokenizer import word_ids
from scrapy_mss.markup.tokens import Bools, Floats, Indices, Ints, Tokens, prefix_sums
from scrapy_mss.pages.addresses import absolute_url, site_of

MIN_STORY: Final = 50  # words that are left without what is beside them

# What a form offers, what a script may show, and windows over the page.
CONTROL_TAGS: Final = ("select", "textarea", "template", "dialog")
# Class words and roles of what readers say, of what the law demands, and of windows over the page.
NAMES: Final = tuple(
    "comment comments commentaires comentario comentarios kommentar kommentare disqus respond"
    " reply replies cookie cookies consent gdpr privacy dialog alertdialog".split()
)
MIN_DATA: Final = 100  # words: what an article shows of data, as code, is shorter
MIN_COPY: Final = 20  # words of a hidden block that repeats one that is shown
MIN_TITLE: Final = 0.5  # of a headline's words in the page's title, and the other way round
MAX_HEADINGS: Final = 100  # that are looked at: the next story's is one of the first
MIN_TEASERS: Final = 3  # stories of a list
MIN_TEASER_TITLE: Final = 3  # words
MIN_LINKED: Final = 0.8  # of a heading's words, to be the title of another page
# Words of a teaser, or times those of the usual one of its list: with more, it is the story, in
# which a heading leads to another.
MAX_TEASER: Final = 100
MAX_TIMES: Final = 5.0
MAX_AMONG: Final = 0.1  # of the story's words from the first teaser on, or up to the last
MIN_SLIDES: Final = 5  # of a gallery, from the first on
MIN_STORY_OF_GALLERY: Final = 200  # words: with fewer, the gallery is what the page is about
SLIDE_NUMBER: Final = 3  # words and symbols, as in 3 / 12
MAX_DIGITS: Final = 3
PATH: Final = 3  # elements: a heading, what it stands in, and what that stands in

_DATA: Final = re.compile(
    r"""[\[{]\s{0,9}(?:[\[{]\s{0,9})?(?:"|&quot;)\w{1,99}(?:"|&quot;)\s{0,9}:"""
)
_NUMBER: Final = np.uint64(word_ids("1")[0])  # of every number
_ARTICLE, _PRE = TAG_NUMBERS["article"], TAG_NUMBERS["pre"]
_TABLE_MASK: Final = 0x1FF  # of a hash; no two of the names share these bits


def _marked(places: Iterable[int], size: int) -> Bools:
    """bool[size]: which numbers are among *places*."""
    marked = np.zeros(size, np.bool_)
    marked[list(places)] = True
    return marked


_IS_CONTROL: Final = _marked(tag_numbers(frozenset(CONTROL_TAGS)), 256)
_IS_WHOLE_PAGE: Final = _marked(tag_numbers(frozenset({"html", "body"})), 256)
_HASHES: Final = np.zeros(_TABLE_MASK + 1, np.uint32)
_HASHES[[crc32(name.encode()) & _TABLE_MASK for name in NAMES]] = [
    crc32(name.encode()) for name in NAMES
]


class Cues(NamedTuple):
    """Where signs look: the rows of elements that hold text, with repetitions, and blocks."""

    controls: list[int]
    named: list[int]
    hidden: list[int]
    long_texts: list[int]
    main_headings: list[int]
    linked_headings: list[int]  # but for a word or two
    numbers: list[int]  # blocks that begin with one


def _tables() -> tuple[object, ...]:
    """What the compiled part has to know."""
    tables = _IS_CONTROL.view(np.uint8), HEADING_LEVELS, _HASHES
    return *tables, _NUMBER, MIN_DATA, MIN_TEASER_TITLE, MIN_LINKED


@accelerated(_tables)
def _cues(page: Page, text: Bools) -> tuple[list[int], ...]:
    """The columns of `Cues`, by the blocks that are taken for *text* (bool[n])."""
    containers, attributes, blocks = page.containers, page.attributes, page.blocks
    before = prefix_sums(text)
    holds = before[containers.end] > before[containers.begin]
    named = attributes.element[_HASHES[attributes.word & _TABLE_MASK] == attributes.word]
    is_title = (page.heading_level > 0) & (blocks.words >= MIN_TEASER_TITLE)
    found = (
        (_IS_CONTROL[containers.tag] & holds).nonzero()[0],
        named[holds[named]],
        (attributes.hidden & holds).nonzero()[0],
        (text & (blocks.words >= MIN_DATA)).nonzero()[0],
        (page.heading_level == 1).nonzero()[0],
        (is_title & (blocks.linked_words >= MIN_LINKED * blocks.words)).nonzero()[0],
        (page.tokens.token_id[blocks.first] == _NUMBER).nonzero()[0],
    )
    return tuple(each.tolist() for each in found)


@dataclass(frozen=True, eq=False)
class Story:
    """The blocks of a *page* that are taken for *text* (bool[n]), and where its story begins."""

    page: Page
    text: Bools
    cues: Cues

    @lazy
    def texts(self) -> Indices:
        """The blocks of text, ascending."""
        return self.text.nonzero()[0]

    @lazy
    def title(self) -> int:
        """The headline's block, -1 if none repeats the page's title well enough."""
        headline = self.page.headline
        return headline.block if headline.own_overlap >= MIN_TITLE else -1

    @lazy
    def may_have_teasers(self) -> bool:
        """Whether there is text under enough linked headings, beside the story under its title."""
        of_text = np.array(self.cues.linked_headings).searchsorted(self.texts, side="right")
        has_texts = len(set(of_text.tolist()) - {0}) >= MIN_TEASERS
        return has_texts and self.title >= 0 and not self.is_live_blog

    @lazy
    def is_live_blog(self) -> bool:
        """Whether the page says that all its stories are one."""
        return "LiveBlogPosting" in self.page.declarations.own_types

    def words(self, of: Bools) -> float:
        """The words of the blocks *of* (bool[n])."""
        return float(np.add.reduce(self.page.words[of]))

    def inside(self, elements: list[int]) -> Bools | None:
        """bool[n]: the blocks inside the *elements* at these rows; None if none of them is text."""
        containers, rows = self.page.containers, np.array(elements, np.intp)
        before, behind = (
            self.texts.searchsorted(each.take(rows)) for each in (containers.begin, containers.end)
        )
        holding = rows[before < behind]
        if not len(holding):
            return None
        return containers.inside(_marked(holding.tolist(), len(containers)))

    def outermost(self, block: int, behind: int, before: int) -> int:
        """The outermost element around *block* with nothing but blocks *behind* and *before* these.

        The number of elements if there is none.
        """
        containers = self.page.containers
        found = len(containers)
        for row in containers.around[:, block].tolist():
            if row == len(containers) or containers.begin[row] <= behind:
                break
            if containers.end[row] > before:
                break
            found = row
        return found


def beside(page: Page, text: Bools) -> Bools:
    """bool[n]: those of the blocks that are taken for *text* (bool[n]) that are not the story's."""
    story = Story(page, text, Cues(*_cues(page, text)))
    for cue, least, sign in SIGNS:
        found = sign(story) if len(getattr(story.cues, cue)) >= least else None
        if found is not None and story.words(story.text & ~found) >= MIN_STORY:
            story = Story(page, story.text & ~found, story.cues)
    return text ^ story.text  # which is a part of it


def controls(story: Story) -> Bools | None:
    """What is inside the controls of a form, a template or a dialogue."""
    return story.inside(story.cues.controls)


def data(story: Story) -> Bools | None:
    """Data for scripts that stands in the page as if it were text."""
    page = story.page
    blocks = [at for at in story.cues.long_texts if story.text[at]]
    clean, start = page.tokens.clean, page.tokens.clean_start
    found = [at for at in blocks if _DATA.match(clean, int(start[page.blocks.first[at]]))]
    found = [at for at in found if not np.count_nonzero(page.ancestor_tags[:, at] == _PRE)]
    return _marked(found, len(story.text)) if found else None


def named(story: Story) -> Bools | None:
    """What is inside elements with one of ``NAMES`` that do not hold the headline."""
    if story.inside(story.cues.named) is None:
        return None
    containers, rows = story.page.containers, np.array(story.cues.named)
    holds_title = (containers.begin[rows] <= story.title) & (containers.end[rows] > story.title)
    return story.inside(rows[~(holds_title | _IS_WHOLE_PAGE[containers.tag[rows]])].tolist())


def hidden(story: Story) -> Bools | None:
    """What is not shown, if it is no more than what is; if it is more, what of it is shown too."""
    page = story.page
    found = story.inside(story.cues.hidden)
    if found is None:
        return None
    is_hidden, is_shown = story.text & found, story.text & ~found
    if story.words(is_hidden) <= story.words(is_shown):
        return is_hidden
    shown = page.text_hashes[is_shown & (page.blocks.words >= MIN_COPY)]
    return is_hidden & np.isin(page.text_hashes, shown)


def next_stories(story: Story) -> Bools | None:
    """All from the next main heading on that stands as the headline does, or in another article.

    Sites load one story after the other below the first. A section of the story has its heading
    where the text is, and not in an element of its own as the headline has.
    """
    headings = story.cues.main_headings
    if story.title not in headings or story.is_live_blog:
        return None
    page, overlap = story.page, story.page.headline.overlap
    later = headings.index(story.title) + 1
    for block in headings[later : later + MAX_HEADINGS]:
        if overlap[block] < MIN_TITLE and _is_next(page, block, story.title):
            row = story.outermost(block, story.title, len(overlap))
            begin = page.containers.begin[row] if row < len(page.containers) else block
            return _marked(range(begin, len(overlap)), len(overlap))
    return None


def _is_next(page: Page, block: int, title: int) -> bool:
    """Whether the heading *block* stands as the *title* does, or in an article behind its own."""
    keys, containers = page.ancestor_keys[:PATH], page.containers
    if np.array_equal(keys[:, block], keys[:, title]):
        return bool(containers.around[1, block] != containers.around[1, title])
    own, other = (_article_around(page, each) for each in (title, block))
    return own >= 0 and other >= 0 and bool(containers.end[own] <= containers.begin[other])


def _article_around(page: Page, block: int) -> int:
    """The innermost `<article>` around *block*, -1 if there is none."""
    is_article = page.ancestor_tags[:, block] == _ARTICLE
    if not np.count_nonzero(is_article):
        return -1
    return int(page.containers.around[is_article.argmax(), block])


def teasers_before(story: Story) -> Bools | None:
    """A list of other stories before the story: each has a heading that links to it."""
    return _teaser_list(story, is_before_title=True)


def teasers(story: Story) -> Bools | None:
    """The same behind the story.

    Where the story goes on between them, they are what it is about: products, places, books.
    """
    return _teaser_list(story, is_before_title=False)


def _teaser_list(story: Story, *, is_before_title: bool) -> Bools | None:
    """What is in the list of other stories on one side of the title."""
    if not story.may_have_teasers:
        return None
    n_blocks = len(story.text)
    behind, before = (-1, story.title) if is_before_title else (story.title, n_blocks)
    headings = [each for each in story.cues.linked_headings if behind < each < before]
    if len(headings) < MIN_TEASERS:
        return None
    containers = story.page.containers
    elements = _teasers_below(story, headings, behind, before)
    words = containers.total(story.page.words * story.text)[elements]
    usual = np.median(words[words > 0]) if np.count_nonzero(words) else 0.0
    elements = elements[words <= max(MAX_TEASER, MAX_TIMES * float(usual))]
    if len(elements) < MIN_TEASERS or not np.count_nonzero(words):
        return None
    begin, end = containers.begin[elements], containers.end[elements]
    found = containers.inside(_marked(elements.tolist(), len(containers)))
    of_story: Floats = story.page.words * (story.text & ~found)
    among = of_story[: end.max()] if is_before_title else of_story[begin.min() :]
    is_apart = np.add.reduce(among) <= MAX_AMONG * np.add.reduce(of_story)
    return found if is_apart else None


def _teasers_below(story: Story, headings: list[int], behind: int, before: int) -> Indices:
    """The elements that hold one of the *headings* and none that leads to yet another page."""
    pages = zip(headings, _other_pages(story.page, headings), strict=True)
    groups = [list(group) for address, group in groupby(pages, lambda page: page[1]) if address]
    lasts = [behind, *(group[-1][0] for group in groups[:-1])]
    firsts = [*(group[0][0] for group in groups[1:]), before]
    found = {
        story.outermost(block, *between)
        for group, *between in zip(groups, lasts, firsts, strict=False)
        for block, _ in group
    }
    return np.array(sorted(found - {len(story.page.containers)}), np.intp)


def _other_pages(page: Page, headings: list[int]) -> list[str]:
    """The address of the site's other page that each heading links to; empty for none.

    It is that of the last link in the heading, or around it. Each is read once: one link may be
    around all headings.
    """
    tokens = page.tokens
    links = np.append(tokens.is_open("a").nonzero()[0], -1)
    link = links[links[:-1].searchsorted(page.blocks.last[headings], side="right") - 1]
    holds = (link >= 0) & (tokens.partner[link] >= page.blocks.first[headings])
    of_link = {each: _other_page(page, each) for each in np.unique(link[holds]).tolist()}
    rows = zip(link.tolist(), holds.tolist(), strict=True)
    return [of_link[each] if is_held else "" for each, is_held in rows]


def _other_page(page: Page, link: int) -> str:
    """The address that the tag *link* leads to, if it is on the site and not that of the page."""
    tokens = page.tokens
    start, end = int(tokens.clean_start[link]), int(tokens.clean_end[link])
    address = attributes_of_tag(tokens.clean, start, end).get("href", "").partition("#")[0]
    if page.web_url and address:
        address = absolute_url(address, page.web_url) or ""
        is_own = address == page.web_url.partition("#")[0]
        return "" if is_own or site_of(address) != site_of(page.web_url) else address
    return address


def slides(story: Story) -> Bools | None:
    """The slides of a gallery, each with its number (`3 / 12`), beside a whole text."""
    numbers = _slide_numbers(story.page, np.array(story.cues.numbers))
    if not {*range(1, MIN_SLIDES + 1)} <= {*numbers.values()}:
        return None
    blocks = [-1, *numbers, len(story.text)]
    elements = {
        story.outermost(block, max(behind, story.title), before)
        for behind, block, before in zip(blocks, blocks[1:], blocks[2:], strict=False)
    }
    found = story.inside(sorted(elements - {len(story.page.containers)}))
    is_gallery = found is None or story.words(story.text & ~found) < MIN_STORY_OF_GALLERY
    return None if is_gallery else found


def _slide_numbers(page: Page, blocks: Indices) -> dict[int, int]:
    """Those of *blocks* that begin with a number of as many as most such have, and the number."""
    of, tokens = page.blocks, page.tokens
    last = of.text.take(of.first_text.take(blocks) + (SLIDE_NUMBER - 1), mode="clip")
    has_total = tokens.token_id.take(last) == _NUMBER
    has_total &= of.n_texts.take(blocks) >= SLIDE_NUMBER
    if np.count_nonzero(has_total) < MIN_SLIDES:
        return {}
    blocks, last = blocks[has_total], last[has_total]
    numbers, totals = _integers(tokens, of.first[blocks]), _integers(tokens, last)
    usual, _ = Counter(totals).most_common(1)[0]
    rows = zip(blocks.tolist(), numbers, totals, strict=True)
    return {block: number for block, number, total in rows if total == usual >= number > 0}


def _integers(tokens: Tokens, at: Indices | Ints) -> list[int]:
    """The numbers that stand there; 0 for one of more slides than a gallery has."""
    bounds = zip(tokens.clean_start[at].tolist(), tokens.clean_end[at].tolist(), strict=True)
    sources = (tokens.clean[start:end] for start, end in bounds)
    return [int(each) if len(each) <= MAX_DIGITS and each.isdecimal() else 0 for each in sources]


class Sign(NamedTuple):
    """What is looked for where a page has as many of one kind of `Cues`: on few pages."""

    cue: str
    least: int
    sign: Callable[[Story], Bools | None]


SIGNS: Final = (
    Sign("controls", 1, controls),
    Sign("long_texts", 1, data),
    Sign("named", 1, named),
    Sign("hidden", 1, hidden),
    Sign("main_headings", 2, next_stories),
    Sign("linked_headings", MIN_TEASERS, teasers_before),
    Sign("linked_headings", MIN_TEASERS, teasers),
    Sign("numbers", MIN_SLIDES, slides),
)
