"""The tags that have a token of their own, and which of them are void, block or line break.

The paper keeps the tags that occur on more than one source and calls every other one unknown.
Ours are the elements that the HTML standards ever named, and the few of SVG that pages inline: a
fixed list needs no corpus, and a token means the same in every model.

A tag's number is its place in ``TAG_NAMES``; 0 is the unknown tag. Numbers are part of
stored models, so names are only ever appended.
"""

from __future__ import annotations

from functools import lru_cache

UNKNOWN_TAG = 0

TAG_NAMES: tuple[str, ...] = (
    "unknown",
    *"""
    a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big
    blink blockquote body br button canvas caption center cite code col colgroup data datalist
    dd del details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form
    frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe image img input ins
    isindex kbd keygen label legend li link listing main map mark marquee math menu menuitem meta
    meter nav nobr noembed noframes noscript object ol optgroup option output p param picture
    plaintext portal pre progress q rb rp rt rtc ruby s samp script search section select slot
    small source spacer span strike strong style sub summary sup svg table tbody td template
    textarea tfoot th thead time title tr track tt u ul var video wbr xmp
    circle defs ellipse g line path polygon polyline rect stop symbol use
    """.split(),
)

TAG_NUMBERS: dict[str, int] = {name: number for number, name in enumerate(TAG_NAMES)}

# Elements that have no content: an opening tag of theirs is never closed.
VOID_TAGS = frozenset(
    """
    area base basefont bgsound br col embed frame hr image img input isindex keygen link meta
    param source spacer track wbr
    """.split()
)

# Elements that begin and end a paragraph of the rendered text; every other tag is inline.
BLOCK_TAGS = frozenset(
    """
    address article aside blockquote body button canvas caption center dd details dialog dir div
    dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup hr
    html iframe legend li listing main menu nav noframes noscript object ol optgroup option p
    plaintext pre section select summary svg table tbody td template textarea tfoot th thead
    title tr ul video audio xmp
    """.split()
)

# Elements whose content a browser does not read as markup: whatever follows such a tag is text, or
# a program, until the closing tag of that name.
RAW_TEXT_TAGS = frozenset(
    "script style textarea title iframe xmp noembed noframes noscript plaintext".split()
)

# Elements that only break the line.
LINE_BREAK_TAGS = frozenset({"br"})


@lru_cache(64)
def tag_numbers(names: frozenset[str]) -> tuple[int, ...]:
    """The numbers of *names*, ascending."""
    return tuple(sorted(TAG_NUMBERS[name] for name in names))
