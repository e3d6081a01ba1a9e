"""What can go wrong with a page, one row each, and pages on which some of it has.

A mutator takes a piece of a real page, another piece and a source of chance, and gives the piece
changed. `mutant` is a function of seed and number alone, for the same source pages: what a campaign
finds can be made again. Pages stay as small as they are likely to break, so that many can be tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

Mutator = Callable[[str, str, Random], str]

# Most pages are short: what breaks on a long one nearly always breaks on a short one, ten times as
# soon. The long ones are for costs that grow faster than the page.
LENGTHS = {8_000: 6, 30_000: 3, 120_000: 1}  # characters: how often
HEAD = 2_000  # characters from the beginning of the page that any piece of it begins with
MOST_MUTATORS = 6
MOST_PLACES = 8  # that one mutator changes
MOST_GROWTH = 3  # times the length that was drawn
URL = "https://news.example/2024/03/05/story"

_TAG = re.compile(r"<[^<>]{1,500}>")
_BLANK = re.compile(r"\s+")

ELEMENTS = (
    "p div span a b i em li ul ol table tr td th h1 h2 article section main header footer nav "
    "aside time blockquote pre form select option button label font center figure dl dt dd address"
).split()
OPENINGS = (
    *(f"<{name}>" for name in ELEMENTS),
    *("<div class=byline>", "<a rel=author>", "<time datetime='2024-03-05'>", "<p hidden>"),
    *("<div itemscope itemprop=author>", "<b itemprop=name>", "<div style='display:none'>"),
)
MARKUP = """< > & " ' / = ! - ; # [ ] ? </ <! /> =" ='""".split()
REFERENCES = (
    *("&amp;", "&lt;", "&gt;", "&nbsp;", "&shy;", "&amp;amp;lt;", "&amp", "&copy2009", "&notit;"),
    *("&#0;", "&#xd800;", "&#x110000;", "&#1;", "&#x9b;", "&#13;", "&#", "&#x;", "&;", "&lt;b&gt;"),
    *("&#99999999999999999999;", "&lt;script&gt;", "&NotEqualTilde;", "&Tab;", "&NewLine;"),
)
COMMENTS = (
    *("<!--", "-->", "--!>", "<!-->", "<!--->", "<!-- x --!>", "<!-- <b> -->", "<!>", "<?xml x?>"),
    *("<![CDATA[", "]]>", "<!doctype html>", "<!DOCTYPE x [<!ENTITY y 'z'>]>", "<!--[if IE]>"),
)
RAW_TEXTS = tuple(
    mark
    for name in (
        "script style textarea title xmp iframe noscript noembed noframes plaintext template svg "
        "math select object frameset body html head"
    ).split()
    for mark in (f"<{name}>", f"</{name}>")
)
ACTIVE = (
    *("<img src=x onerror=alert(1)>", "<a href='javascript:alert(1)'>x</a>", "<svg onload=x>"),
    *("<iframe srcdoc='<script>x</script>'>", "<base href='//[::1'>", "<base href='https://b.c/'>"),
    *("<a href='data:text/html,<script>x</script>'>x</a>", "<link rel=canonical href='http://['>"),
    *("<p title='</p><script>x</script>'>", "<meta http-equiv=refresh content='0;url=x'>"),
    *("<form action=x><input name=y onfocus=z autofocus>", "<a href='&#106;avascript:x'>y</a>"),
    *("<img src='data:image/svg+xml,<svg onload=x>'>", "<math><mtext><img src=x onerror=y></math>"),
)
CHARACTERS = (
    *("\0", "\x01", "\x08", "\x0b", "\x0c", "\r", "\x1b[31m", "\x7f", "\x85", "\x9b"),
    *("\xa0", "\xad", "\u200b", "\u200e", "\u2028", "\u2029", "\u202e", "\u2066", "\ufeff"),
    *("\ufffd", "\ufffe", "\ud800", "\udfff", "\udbff\udc00", "\U0010ffff", "e" + "\u0301" * 40),
    *("\ufb01", "\u0130", "\u4e2d\u6587\u3002", "\u0645\u0631\u062d", "\u0e20\u0e32\u0e29"),
    *("\U0001f468\u200d", "\ue000"),
)
VALUES = (
    *("", " ", "null", "0", "-1", "9" * 400, "1e999", "\\ud800", "[" * 200, '{"a":' * 200),
    *("By Ann Lee and Bo Day", "A, B & C | D - E", "x" * 5_000, "-" * 3_000, "\u202eabc"),
    *("https://x.example/a b", "//[", "javascript:x", "data:,", "\x1b]0;x\x07"),
    *("&amp;lt;b&amp;gt;", "<script>x</script>", "2024-13-45T99:99", "0001-01-01", "12/31/99999"),
)
DATES = (
    *("2024-03-05", "5. M\u00e4rz 2024, 10.00 Uhr", "3. DEZEMBER 2024 um 10 Uhr", "vor 3 Stunden"),
    *("2024\u5e743\u67085\u65e5 10:00", "Mar 5, 2024 10:00 AM EST", "today 25:61"),
    *(
        "12 \u015eUBAT 2024",
        "5 EK\u0130M 2024 10:00",
        "publi\u00e9 le 1er AO\u00dbT 2024 \u00e0 10h00",
    ),
)
STATED = VALUES + DATES  # in JSON-LD and meta tags
KEYS = (
    "headline author name datePublished dateModified articleBody inLanguage publisher @type @graph "
    "@id image url mainEntityOfPage description"
).split()
METAS = (
    "og:title og:type og:url og:locale og:image author date description article:published_time "
    "article:modified_time article:author dc.date parsely-pub-date"
).split()
ALPHABETS = ("abcdefgh", "0123456789", "\u0430\u0431\u0432\u0433", "\u4e00\u4e8c\u4e09")
CHARSETS = ("utf-8", "utf-16-le", "utf-16", "latin-1", "cp1251", "shift_jis", "gb18030", "utf-7")


def _places(text: str, chance: Random) -> list[int]:
    """Some places in *text*, in order."""
    return sorted(chance.randint(0, len(text)) for _ in range(chance.randint(1, MOST_PLACES)))


def _insert(text: str, chance: Random, parts: Sequence[str]) -> str:
    """*text* with some of *parts* at some places."""
    places = [0, *_places(text, chance), len(text)]
    pieces = [text[start:end] for start, end in pairwise(places)]
    return "".join(piece + chance.choice(parts) for piece in pieces[:-1]) + pieces[-1]


def inserting(parts: Sequence[str]) -> Mutator:
    """A mutator that inserts some of *parts*."""
    return lambda page, _, chance: _insert(page, chance, parts)


def on_tags(change: Callable[[str, Random], str], share: float = 0.1) -> Mutator:
    """A mutator that changes a *share* of the tags."""

    def mutate(page: str, _: str, chance: Random) -> str:
        return _TAG.sub(
            lambda tag: change(tag[0], chance) if chance.random() < share else tag[0], page
        )

    return mutate


def _piece(text: str, chance: Random) -> tuple[int, int]:
    """Where a piece of *text* begins and ends."""
    start = chance.randint(0, len(text))
    return start, min(len(text), start + chance.choice((20, 200, 2_000)))


def flip_bytes(page: str, _: str, chance: Random) -> str:
    data = bytearray(page.encode("utf-8", "surrogatepass"))
    for _place in range(chance.choice((1, 10, 100)) if data else 0):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return data.decode(chance.choice(("utf-8", "latin-1")), "replace")


def mistake_encoding(page: str, _: str, chance: Random) -> str:
    written, read = chance.sample(CHARSETS, 2)
    start, end = _piece(page, chance) if chance.random() < 0.5 else (0, len(page))
    wrong = page[start:end].encode(written, "replace").decode(read, "replace")
    return page[:start] + wrong + page[end:]


def splice(page: str, other: str, chance: Random) -> str:
    return page[: chance.randint(0, len(page))] + other[chance.randint(0, len(other)) :]


def interleave(page: str, other: str, chance: Random) -> str:
    mine, theirs = page.split("<"), other.split("<")
    size = chance.choice((1, 5, 50))
    starts = range(0, max(len(mine), len(theirs)), size)
    return "<".join(part for n in starts for side in (mine, theirs) for part in side[n : n + size])


def delete_piece(page: str, _: str, chance: Random) -> str:
    start, end = _piece(page, chance)
    return page[:start] + page[end:]


def repeat_piece(page: str, _: str, chance: Random) -> str:
    start, end = _piece(page, chance)
    return page[:end] + page[start:end] * chance.choice((1, 10, 100)) + page[end:]


def move_piece(page: str, _: str, chance: Random) -> str:
    start, end = _piece(page, chance)
    rest, place = page[:start] + page[end:], chance.randint(0, len(page))
    return rest[:place] + page[start:end] + rest[place:]


def truncate(page: str, _: str, chance: Random) -> str:
    return page[: chance.randint(0, len(page))]


def cut_in_tag(page: str, _: str, chance: Random) -> str:
    tags = [match.span() for match in _TAG.finditer(page)]
    return page[: chance.randint(*chance.choice(tags))] if tags else page


def nest(page: str, _: str, chance: Random) -> str:
    """Around a piece, openings in one another, which are closed again, by others, or not."""
    start, end = _piece(page, chance)
    depth = chance.choice((10, 100, 600))
    opened = chance.choices(OPENINGS, k=chance.randint(1, 3))
    names = [re.findall(r"\w+", tag)[0] for tag in opened]
    closings = "".join(f"</{chance.choice(names)}>" for _ in range(chance.choice((0, depth))))
    return page[:start] + "".join(opened) * depth + page[start:end] + closings + page[end:]


def scatter(page: str, _: str, chance: Random) -> str:
    """One tag in the place of many blanks."""
    tag, share = chance.choice(OPENINGS + RAW_TEXTS[:2] + COMMENTS[:2]), chance.choice((0.05, 0.5))
    start, end = _piece(page, chance)
    dense = _BLANK.sub(lambda x: tag if chance.random() < share else x[0], page[start:end])
    return page[:start] + dense + page[end:]


def add_attributes(tag: str, chance: Random) -> str:
    count = chance.choice((1, 20, 200))
    kind = chance.choice(
        ("a%d", "class='x y%d'", 'data-x="%d>"', "id=%d", "itemprop=author", "a='")
    )
    added = " ".join(kind % n if "%d" in kind else kind for n in range(count))
    return f"{tag[:-1]} {added}>"


def huge_attribute(page: str, _: str, chance: Random) -> str:
    value = chance.choice(("x", "x ", "<b>", "&amp;", "\u4e2d", "a=b ")) * chance.choice(
        (100, 3_000)
    )
    name = chance.choice(("class", "id", "style", "href", "title", "content", "alt", "data-x"))
    return _insert(page, chance, (f'<p {name}="{value}">', f"<img {name}='{value}'>"))


def break_quotes(tag: str, chance: Random) -> str:
    quote = chance.choice("\"'")
    return tag.replace(quote, chance.choice(("", "`", quote * 2)), chance.randint(1, 3))


def spell_oddly(tag: str, chance: Random) -> str:
    odd = (tag.upper(), _BLANK.sub("/", tag), _BLANK.sub("\f\n ", tag), tag.replace("=", " = "))
    return chance.choice(odd)


def state_data(page: str, _: str, chance: Random) -> str:
    """Insert JSON-LD and meta tags with odd values."""
    pairs = ((chance.choice(KEYS), chance.choice(STATED)) for _ in range(chance.randint(1, 8)))
    quote = chance.choice(('"', "", "["))
    fields = ",".join(f'"{key}":{quote}{value}{quote}' for key, value in pairs)
    script = f'<script type="application/ld+json">{{"@type":"NewsArticle",{fields}}}</script>'
    meta = f'<meta property="{chance.choice(METAS)}" content="{chance.choice(STATED)}">'
    time = f"<time class=posted datetime='{chance.choice(STATED)}'>{chance.choice(STATED)}</time>"
    return _insert(page, chance, (script, meta, time))


def change_case(page: str, _: str, chance: Random) -> str:
    """Other letters, and more or fewer of them: a dotted I has no single small letter."""
    start, end = _piece(page, chance)
    change = chance.choice((str.upper, str.lower, str.title, str.casefold, str.swapcase))
    return page[:start] + change(page[start:end]) + page[end:]


def odd_words(page: str, _: str, chance: Random) -> str:
    """New words in the place of some: what remembers words has not seen them."""
    share = chance.choice((0.02, 0.3))
    letters = chance.choice(
        ("abcdefgh", "0123456789", "\u0430\u0431\u0432\u0433", "\u4e00\u4e8c\u4e09")
    )

    def another(blank: re.Match[str]) -> str:
        is_one = chance.random() < share
        return f" {''.join(chance.choices(letters, k=12))} " if is_one else blank[0]

    return _BLANK.sub(another, page)


MUTATORS: dict[str, Mutator] = {
    "flip bytes": flip_bytes,
    "insert markup": inserting(MARKUP),
    "insert characters": inserting(CHARACTERS),
    "insert references": inserting(REFERENCES),
    "insert comments": inserting(COMMENTS),
    "insert raw text": inserting(RAW_TEXTS),
    "insert openings": inserting(OPENINGS),
    "insert active content": inserting(ACTIVE),
    "delete tags": on_tags(lambda tag, chance: chance.choice(("", " ", tag[1:], tag[:-1]))),
    "delete most tags": on_tags(lambda *_: "", 0.9),
    "repeat tags": on_tags(lambda tag, chance: tag * chance.choice((2, 20))),
    "exchange tags": on_tags(lambda _, chance: chance.choice(OPENINGS + RAW_TEXTS)),
    "close tags": on_tags(lambda tag, _: tag.replace("<", "</", 1)),
    "add attributes": on_tags(add_attributes, 0.01),
    "break quotes": on_tags(break_quotes),
    "spell oddly": on_tags(spell_oddly),
    "huge attribute": huge_attribute,
    "mistake encoding": mistake_encoding,
    "splice": splice,
    "interleave": interleave,
    "delete piece": delete_piece,
    "repeat piece": repeat_piece,
    "move piece": move_piece,
    "truncate": truncate,
    "cut in tag": cut_in_tag,
    "nest": nest,
    "scatter": scatter,
    "state data": state_data,
    "change case": change_case,
    "odd words": odd_words,
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A page of a campaign, and which rows of `MUTATORS` made it, in order."""

    html: str
    mutators: tuple[str, ...]


def mutant(pages: Sequence[str], seed: int, number: int) -> Mutant:
    """The page *number* of the campaign with *seed* over the source *pages*."""
    chance = Random(f"{seed} {number}")
    (length,) = chance.choices(tuple(LENGTHS), tuple(LENGTHS.values()))
    html, other = (_shortened(chance.choice(pages), length, chance) for _ in range(2))
    names = tuple(chance.choices(tuple(MUTATORS), k=chance.randint(1, MOST_MUTATORS)))
    for name in names:
        html = MUTATORS[name](html, other, chance)[: MOST_GROWTH * length]
    return Mutant(html, names)


def _shortened(page: str, length: int, chance: Random) -> str:
    """A piece of the *page* of at most so many characters, behind the page's own beginning."""
    if len(page) <= length:
        return page
    start = chance.randint(HEAD, max(HEAD, len(page) - length + HEAD))
    return page[:HEAD] + page[start : start + length - HEAD]
