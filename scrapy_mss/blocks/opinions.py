"""Opinions about a page: which blocks are its text, by other ideas than the counts.

Each opinion is a small extractor of its own, after an idea of the literature, computed on the
page's arrays in some ten microseconds. None knows what was learned, so that they err on other pages
than the counts do, above all on sites unlike those of the training. The network sees for each
block which of them keep it, and for the page how much each of them keeps and how far they agree: an
opinion that stands alone is worth less than two of one mind.

``OPINIONS`` is the table of them. The constants were chosen by the F1 of each opinion alone; the
network weighs what comes out.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from itertools import combinations
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.texts import BITS
from scrapy_mss.core.subsequence import best_span
from scrapy_mss.markup.attributes import ElementAttributes
from scrapy_mss.markup.tags import TAG_NUMBERS, tag_numbers
from scrapy_mss.markup.tokens import Bools, Bytes, Counts, Floats, Indices

# Of a hash: no two of the words share these bits, which `_word_tables` makes sure.
_TABLE_MASK = 0xFFFF


class Role(IntEnum):
    """What a class word may say; a word may have several roles."""

    SUBJECT = 0  # what the page is about: "article" in article-body
    BODY = 1  # its text: "body" in article-body
    LIKELY = 2  # one word that speaks for main text
    BESIDE = 3  # navigation, recommendations, forms, and what else stands beside a text


WORDS: dict[Role, tuple[str, ...]] = {
    Role.SUBJECT: (
        *("article", "story", "post", "entry", "news", "blog", "single", "page", "main", "text"),
        *("content", "detail", "artikel", "noticia", "nota"),
    ),
    Role.BODY: (
        *("body", "content", "text", "copy", "inner", "main", "paragraph", "paragraphs", "prose"),
        *("detail", "description", "artikel", "txt", "corpo", "cuerpo", "texto", "contenido"),
        "inhalt",
    ),
    Role.LIKELY: (
        *("article", "body", "content", "entry", "hentry", "main", "page", "post", "text"),
        *("blog", "story"),
    ),
    Role.BESIDE: (
        # What readers say, and where they go next
        *("comment", "comments", "commentaires", "comentario", "comentarios", "kommentar"),
        *("kommentare", "disqus", "respond", "reply", "replies", "related"),
        *("relacionadas", "relacionados", "recommended", "recommend", "recommendations"),
        *("recirc", "recirculation", "popular", "trending", "mostread", "ranking", "outbrain"),
        *("taboola", "teaser", "teasers", "card", "cards", "carousel", "slider", "gallery"),
        *("pagination", "pager", "viral"),
        # What the site wants of them
        *("share", "sharing", "social", "newsletter", "subscribe", "subscription", "signup"),
        *("login", "paywall", "donate", "donation", "membership", "supporter", "poll", "survey"),
        *("cookie", "cookies", "consent", "gdpr", "privacy", "legal", "notice", "disclaimer"),
        *("trust", "modal", "popup", "overlay", "upsell", "cta"),
        # Advertising
        *("promo", "promotion", "sponsor", "sponsored", "ad", "ads", "advert", "adverts"),
        *("advertisement", "banner"),
        # The page's frame, and lines around a text
        *("sidebar", "aside", "footer", "nav", "navigation", "subnav", "menu", "masthead"),
        *("toolbar", "breadcrumb", "breadcrumbs", "tags", "meta", "author", "byline", "bio"),
        *("caption", "credit", "copyright", "pullquote", "date", "datetime", "dateline"),
        *("published", "updated"),
    ),
}


def _word_tables() -> tuple[NDArray[np.uint32], Bytes]:
    """The hash at each place of the table, and the roles of its word, as bits."""
    hashes, roles = np.zeros(_TABLE_MASK + 1, np.uint32), np.zeros(_TABLE_MASK + 1, np.uint8)
    for role, words in WORDS.items():
        for word in words:
            code = crc32(word.encode())
            place = code & _TABLE_MASK
            assert hashes[place] in {0, code}, f"{word} shares its place with another word"
            hashes[place] = code
            roles[place] |= 1 << role
    return hashes, roles


_HASHES, _ROLES_OF_WORDS = _word_tables()


def role_counts(attributes: ElementAttributes) -> Counts:
    """int64[n_roles, n_elements]: how many class words of each element have each role."""
    known = np.flatnonzero(_HASHES[attributes.word & _TABLE_MASK] == attributes.word)
    roles = _ROLES_OF_WORDS[attributes.word[known] & _TABLE_MASK]
    elements = (attributes.element[known[roles >> role & 1 > 0]] for role in Role)
    return np.array([np.bincount(each, minlength=len(attributes.start)) for each in elements])


PARAGRAPH_LETTERS = 25  # that a paragraph has at least, as in Readability
LONG_LINE = 60  # letters, from which a line is text even if no sentence ends it; names are shorter
MAX_LINKED = 1 / 3  # of a paragraph's words; what has more leads elsewhere
MAIN_SHARE = 0.5  # of the page's prose: an element that has it is beside nothing, whatever its name
MIN_LINKED = 0.5  # of a block's words: a block with more is no text
FEW = 0.2  # of the page's prose: if no more is left, class words lead astray on this page
STOP_WORD_PRICE = 0.3  # of a word, in words that have as many stop words as the page's prose
MIN_STOP_SHARE = 0.05  # of the words of prose; with fewer, the language has no stop words here
# A tag costs as much as so many words. For an element, whose end is certain, a small price is best:
# of all lines, .2 gave F1 .940 on articles_wcxb, .3 .938, .5 .933, 1 .916.
WORDS_PER_TAG_IN_ELEMENT = 0.3

PARAGRAPH_TAGS = frozenset(
    "p pre blockquote li dd dt h1 h2 h3 h4 h5 h6 figcaption caption td th".split()
)
NEVER_TAGS = frozenset("head title template select textarea button".split())
BESIDE_TAGS = frozenset(
    "nav aside footer form header noscript figure figcaption dialog menu".split()
)
NAMELESS_TAGS = frozenset({"html", "body"})  # their class words describe the whole page


# What a tag says of its element, as bits.
_NEVER, _BESIDE, _NAMELESS, _ITEM, _PARAGRAPH = (1 << bit for bit in range(5))
_TAGS = {
    _NEVER: NEVER_TAGS,
    _BESIDE: BESIDE_TAGS,
    _NAMELESS: NAMELESS_TAGS,
    _ITEM: PARAGRAPH_TAGS - {"p"},
    _PARAGRAPH: PARAGRAPH_TAGS,
}


_ROLES_OF_TAGS = np.zeros(256, np.uint8)  # by its number
for _role, _names in _TAGS.items():
    _ROLES_OF_TAGS[list(tag_numbers(_names))] |= _role


class Reading:
    """A page without its counts: blocks as paragraphs, elements by their names and content.

    Nothing here was learned: it is found by rules that hold for any page, of tags, class words,
    lengths and links. There are n blocks and m elements.
    """

    def __init__(self, page: Page) -> None:
        """Read *page*."""
        containers, texts = page.containers, page.text_counts
        own_roles = _ROLES_OF_TAGS[page.innermost_tags]
        innermost, beyond = containers.around[:2]
        link_share = page.blocks.linked_words / page.words
        self.page, self.containers = page, containers
        self.letters: Floats = texts.of("letters")  # float64[n]: characters of its words
        self.commas: Floats = texts.of("comma")  # float64[n]
        self.link_share: Floats = link_share
        self.unlinked: Floats = 1 - 2 * link_share  # float64[n]: from 1 to -1, if all is linked
        self.is_long: Bools = self.letters >= PARAGRAPH_LETTERS  # bool[n]
        self.is_unlinked: Bools = link_share < MIN_LINKED  # bool[n]: may be text by its links
        # int64[n_roles, m]: how many class words of each element have each role
        self.roles: Counts = role_counts(page.attributes)
        self._tag_roles: Bytes = _ROLES_OF_TAGS[containers.tag]
        is_prose = self.is_long & (link_share < MAX_LINKED)
        # float64[n]: the letters of each block that looks like a paragraph, 0 for the others
        self.prose: Floats = self.letters * (
            is_prose & ~containers.inside(self._tag_roles & _NEVER > 0)
        )
        # bool[m], bool[n]: what is not the text by tag, class words or not being shown
        self.beside, self.inside_beside = self._beside()
        # intp[n]: the element that holds each block's paragraph
        self.own_container: Indices = np.where(own_roles & _PARAGRAPH > 0, beyond, innermost)
        # A short line in a paragraph or a bare box that is no sentence is a date, a name, a label.
        is_line = (own_roles & _ITEM > 0) | (self.is_long & (texts.last & BITS["closer"] > 0))
        is_line |= self.letters >= LONG_LINE
        # bool[n]: the lines of a text, without what is beside it and without linked ones
        self.is_text: Bools = is_line & ~self.inside_beside & self.is_unlinked
        # float64[m]: what is inside each element: letters and linked ones; prose of the text;
        # words, less linked ones and the price of tags; stop words, less the price of words
        self.letters_inside = containers.total(self.letters)
        self.linked_inside = containers.total(self.letters * link_share)
        self.prose_inside = containers.total(self.prose * ~self.inside_beside)
        self.density_inside = self._sum_inside(self.values(WORDS_PER_TAG_IN_ELEMENT))
        self.stop_words_inside = self._sum_inside(self._stop_words())

    def __len__(self) -> int:
        return len(self.page.blocks)

    def values(self, words_per_tag: float) -> Floats:
        """float64[n]: the words of each block, linked ones against it, less its tags' price."""
        return self.page.words * self.unlinked - words_per_tag * self.page.blocks.tags

    def _beside(self) -> tuple[Bools, Bools]:
        """The elements beside the text, and the blocks inside them.

        By tags alone where class words would leave next to nothing of the page's prose.
        """
        containers, total = self.containers, float(np.add.reduce(self.prose))
        has_little = containers.total(self.prose) < MAIN_SHARE * total
        never, by_tag = self._tag_roles & _NEVER > 0, self._tag_roles & _BESIDE > 0
        by_name = (self.roles[Role.BESIDE] > 0) & (self._tag_roles & _NAMELESS == 0)
        by_name |= self.page.attributes.hidden
        beside = never | ((by_tag | by_name) & has_little)
        inside = containers.inside(beside)
        if np.add.reduce(self.prose[~inside]) < FEW * total:
            beside = never | (by_tag & has_little)
            inside = containers.inside(beside)
        return beside, inside

    def _sum_inside(self, values: Floats) -> Floats:
        """float64[m]: the sum of *values* inside each element.

        What is beside the text cannot speak for an element around it.
        """
        bounded = np.where(self.inside_beside, np.minimum(values, 0.0), values)
        return self.containers.total(bounded)

    def _stop_words(self) -> Floats:
        """float64[n]: the stop words of each block, as words, less the price of its words."""
        is_prose, words = self.prose > 0, self.page.words
        stops = self.page.text_counts.of("stop_words")
        share = np.add.reduce(stops[is_prose]) / max(np.add.reduce(words[is_prose]), 1.0)
        as_words: Floats = stops / max(share, MIN_STOP_SHARE)
        return as_words * self.unlinked - STOP_WORD_PRICE * words


MIN_TEXT = 250  # letters of prose: with fewer, a container that says it is the text is a teaser

# Paragraphs that score their containers, after Readability
LEVEL_WEIGHTS = (1.0, 1 / 2, 1 / 6)  # of a paragraph's points for the elements around it
LETTERS_PER_POINT, MAX_LENGTH_POINTS = 100, 3
NAME_POINTS = 25.0  # for a class word that speaks for text, and against it
MIN_SCORE = 10.0  # of a sibling that belongs to the best container
SIBLING_SHARE = 0.2  # of the best container's score
TAG_POINTS = {
    "article": 10.0,
    "div": 5.0,
    **dict.fromkeys(("pre", "td", "blockquote"), 3.0),
    **dict.fromkeys(("address", "ol", "ul", "dl", "dd", "dt", "li", "form"), -3.0),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6", "th"), -5.0),
}
OUTWARD_GAIN = 1.1  # times the density that the element around it must have, to be chosen instead

SECOND_BODY = 0.5  # of the prose of the longest: a container that comes before it and has that much
HEADLINE_SHARE = 0.4  # of the prose below the headline, that its container has

WORDS_PER_TAG_IN_RUN = 1.0  # a run, which nothing but tags ends, needs a higher price than elements

_TAG_POINTS = np.zeros(256)
_TAG_POINTS[[TAG_NUMBERS[name] for name in TAG_POINTS]] = list(TAG_POINTS.values())


class Opinion(NamedTuple):
    """A row of the table: a name, the blocks that it keeps, and whose idea it is."""

    name: str
    of: Callable[[Reading], Bools]
    idea: str


def paragraph_votes(reading: Reading) -> Bools:
    """The container that paragraphs give most points, and its siblings with enough of them."""
    containers = reading.containers
    score = _paragraph_scores(reading)
    best = _outward(reading, int(score.argmax()))
    is_sibling = containers.parent[:-1] == containers.parent[best]
    is_sibling &= score >= max(MIN_SCORE, SIBLING_SHARE * score[best])
    is_sibling &= ~reading.beside
    is_sibling[best] = True
    return containers.inside(is_sibling) & reading.is_text


def _paragraph_scores(reading: Reading) -> Floats:
    """float64[m]: the points of each element by its paragraphs, tag, names and links."""
    containers, element, points = reading.containers, reading.own_container, _points(reading)
    score = np.zeros(len(containers))
    for weight in LEVEL_WEIGHTS:
        score += np.bincount(element, points * weight, len(score) + 1)[:-1]
        element = containers.parent[element]
    has_any = score > 0
    of_element = _TAG_POINTS[containers.tag]
    of_element[reading.roles[Role.LIKELY] > 0] += NAME_POINTS
    of_element[reading.roles[Role.BESIDE] > 0] -= NAME_POINTS
    score += of_element
    unlinked = 1 - reading.linked_inside / np.maximum(reading.letters_inside, 1.0)
    scored: Floats = np.where(has_any, score * unlinked, -np.inf)
    return scored


def _points(reading: Reading) -> Floats:
    """float64[n]: what each paragraph gives, by its commas and its length."""
    length = np.minimum(reading.letters / LETTERS_PER_POINT, MAX_LENGTH_POINTS)
    points = (1 + reading.commas + length) * reading.is_long
    text = points * reading.is_unlinked
    outside = text * ~reading.inside_beside
    return next((each for each in (outside, text) if np.count_nonzero(each)), points)


def _outward(reading: Reading, row: int) -> int:
    """The element around *row*, as long as that adds more text than it adds tags."""
    parent, density = reading.containers.parent, reading.density_inside
    while parent[row] < len(density) and density[parent[row]] > OUTWARD_GAIN * density[row]:
        row = int(parent[row])
    return row


def named_body(reading: Reading) -> Bools:
    """The first container that says it is an article's body, else an article, else the main."""
    containers = reading.containers
    prose = reading.prose_inside
    subject, body = reading.roles[Role.SUBJECT], reading.roles[Role.BODY]
    is_body = (subject > 0) & (body > 0) & (subject + body > 1)
    of_tags = (containers.tag == TAG_NUMBERS[name] for name in ("article", "main"))
    for chosen in (is_body, *of_tags):
        rows = (chosen & ~reading.beside & (prose >= MIN_TEXT)).nonzero()[0]
        if len(rows):
            first = rows[prose[rows] >= SECOND_BODY * prose[rows].max()][0]
            return _text_in(reading, int(first))
    return np.zeros(len(reading), np.bool_)


def below_headline(reading: Reading) -> Bools:
    """What follows the headline in the first element around it that has text below it."""
    headline = reading.page.headline
    below = headline.below
    if not np.count_nonzero(below):
        return below
    prose = reading.prose * ~reading.inside_beside * below
    enough = max(MIN_TEXT, HEADLINE_SHARE * float(np.add.reduce(prose)))
    total, around = reading.containers.total(prose), reading.containers.around[:, headline.block]
    around = around[around < len(total)]  # those that are there
    has_text = total[around] >= enough
    if np.count_nonzero(has_text):
        below &= reading.containers.run(int(around[has_text.argmax()]))
    if headline.level[headline.block] == 1:
        below &= headline.later_headings == 0
    return below & reading.is_text


def densest_run(reading: Reading) -> Bools:
    """The run of blocks with the most words in it and tags around it: body text extraction."""
    best = best_span(reading.values(WORDS_PER_TAG_IN_RUN))
    run = np.zeros(len(reading), np.bool_)
    run[best.start : best.end] = True
    return run & reading.is_unlinked


def densest_element(reading: Reading) -> Bools:
    """The element with the most words and the fewest tags and linked words in it."""
    return _text_in(reading, int(reading.density_inside.argmax()))


def stop_word_element(reading: Reading) -> Bools:
    """The element with more stop words than its other words outweigh."""
    return _text_in(reading, int(reading.stop_words_inside.argmax()))


def _text_in(reading: Reading, row: int) -> Bools:
    """The text of the element at *row*."""
    return reading.containers.run(row) & reading.is_text


OPINIONS: tuple[Opinion, ...] = (
    Opinion("paragraph_votes", paragraph_votes, "Readability (Arc90, 2009)"),
    Opinion("named_body", named_body, "trafilatura (Barbaresi, 2021): the container by its names"),
    Opinion("below_headline", below_headline, "the text follows the headline"),
    Opinion("densest_run", densest_run, "body text extraction (Finn and others, 2001)"),
    Opinion("densest_element", densest_element, "the same idea, of whole elements"),
    Opinion("stop_words", stop_word_element, "Goose (2011): running text has stop words"),
)


# The numbers that the compiled part has names for, in its order.
_NUMBERS = (
    *(PARAGRAPH_LETTERS, LONG_LINE, MAX_LINKED, MAIN_SHARE, MIN_LINKED, FEW, STOP_WORD_PRICE),
    *(MIN_STOP_SHARE, WORDS_PER_TAG_IN_ELEMENT, MIN_TEXT, LETTERS_PER_POINT, MAX_LENGTH_POINTS),
    *(NAME_POINTS, MIN_SCORE, SIBLING_SHARE, OUTWARD_GAIN, SECOND_BODY),
    *(HEADLINE_SHARE, WORDS_PER_TAG_IN_RUN, TAG_NUMBERS["article"], TAG_NUMBERS["main"]),
)


def opinions(page: Page) -> dict[str, Bools]:
    """The blocks of *page* that each opinion keeps, by its name: bool[n]."""
    if not len(page.containers):
        return dict.fromkeys(_NAMES, np.zeros(len(page.blocks), np.bool_))
    reading = Reading(page)
    return {opinion.name: opinion.of(reading) for opinion in OPINIONS}


def opinion_tables() -> tuple[object, ...]:
    """What the compiled part knows of class words and tags, and the numbers."""
    numbers = (np.array(each, np.float64) for each in (LEVEL_WEIGHTS, _NUMBERS))
    return _HASHES, _ROLES_OF_WORDS, _ROLES_OF_TAGS, _TAG_POINTS, *numbers


def opinion_features(page: Page) -> dict[str, ArrayLike]:
    """What opinions tell of the blocks of *page*, by the names of ``OPINION_COLUMNS``.

    An opinion that keeps nothing is silent: it does not contradict the others. What they say on
    average stands in its place.
    """
    kept, words = opinions(page), page.words
    sizes = {name: float(words[each].sum()) for name, each in kept.items()}
    speaking = [name for name in kept if sizes[name]]
    on_average = sum(kept[name].astype(float) for name in speaking) / max(len(speaking), 1)
    said = [kept[name].astype(float) if sizes[name] else on_average for name in kept]
    f1 = {
        (one, other): 2 * float(words[kept[one] & kept[other]].sum()) / (sizes[one] + sizes[other])
        for one, other in combinations(speaking, 2)
    }
    mean = float(np.mean([*f1.values()])) if f1 else 0.0
    found = [*said, sum(said) / len(said)]
    found += [size / max(page.total_words, 1.0) for size in sizes.values()]
    found += [f1.get(pair, mean) for pair in combinations(kept, 2)]
    return dict(zip(OPINION_COLUMNS, found, strict=True))


_NAMES = [opinion.name for opinion in OPINIONS]
OPINION_COLUMNS = (
    *(f"opinion_{name}" for name in _NAMES),
    "opinions",
    *(f"share_of_{name}" for name in _NAMES),
    *(f"agreement_of_{one}_and_{other}" for one, other in combinations(_NAMES, 2)),
)
