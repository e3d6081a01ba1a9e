"""Names of authors, out of what pages write where an author belongs.

Strategy: fewer rather than bad. A text is cut into parts at what separates names, each part is
freed of what stands around a name (`By`, a mail address, a degree), and a part that is no name is
dropped (an address, a date, a job, `admin`). What is left is kept, organisations too: a field
called author that says `Reuters` means it. Texts from elsewhere, such as a byline that was found
by its looks, must also look like a person's name (`is_person`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from scrapy_mss.metadata import dates
from scrapy_mss.metadata.text import clean, folded, spellings

MAX_NAME: Final = 60  # characters
MAX_WORDS: Final = 7  # `The Editorial Board of the Daily News`; a sentence has more
MAX_LOWER: Final = 5  # words in lower case: `Ann Lee, staff writer for the paper` has five
MAX_LINE: Final = 2_000  # characters of one text; a hundred names have that
MAX_TEXTS: Final = 500
MAX_AUTHORS: Final = 50  # physics papers have thousands, and no feed wants them

# --- what stands around a name --------------------------------------------------------------------

# Dropped from the front of a text, again and again. Words that names begin with, too (Von Miller),
# need two words behind them.
_LABEL: Final = re.compile(
    r"^\W*(?:"
    r"(?:written|posted|published|reported|reviewed|edited|story|text|words|article|photos?)"
    r"\s+(?:and\s+\w+\s+)?by\b|by\b|view orcid profile|"
    r"(?:author(?:s|\(s\))?|autore?|autorin|auteur|text|yazan|автор)\s*[:：]|"  # noqa: RUF001
    r"(?:von|por|par|door|av|af|di|przez)(?=\s+\S+\s+\S)"
    r")\s*:?\s*",
    re.IGNORECASE,
)
_MAIL: Final = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
_ADDRESS: Final = re.compile(r"(?:https?:|//|www\.)|/.*\.", re.IGNORECASE)
_BRACKETS: Final = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|[\"“”]")
_EDGE: Final = " \t.,;:|/\\-–—•·*_~'’‘`<>(){}[]=+&"  # noqa: RUF001 - dashes of typographers

# A line that gives a name, and what says that a list of names goes on.
_BY: Final = re.compile(
    r"\W*(?:(?:written|posted|published|reported|words|text|story)\s+)?"
    r"(?:by|von|por|par|door|av|af|di|przez|author|autore?)\b\s*:?\s*",
    re.IGNORECASE,
)
_GOES_ON: Final = re.compile(
    r"^\W*(?:,|&|and\b|und\b|et\b|y\b)|(?:,|&|\band|\bund|\bet|\by)\W*$", re.IGNORECASE
)
MAX_LABELLED: Final = 8  # names in a byline

# --- what separates names -------------------------------------------------------------------------

_STRONG: Final = re.compile(r"\s*(?:;|\||•|·|\s[-–—/]\s|/)\s*")  # noqa: RUF001 - as above
_AND: Final = re.compile(
    r"\s*,?\s+(?:and|und|et|y|og|och|with|mit|&|\+|及|和)\s+|\s*[、,]\s*(?=and\s)|\s*[、]\s*",
    re.IGNORECASE,
)
_COMMA: Final = re.compile(r"\s*[,،，]\s*")  # noqa: RUF001 - the commas of Arabic and Chinese

# --- what is no name ------------------------------------------------------------------------------

DEGREES: Final = frozenset(
    "aicp ba bs bsc cfa cfp cpa dds do dr dvm edd esq facc faap facs frcp ii iii jd jr llb llm "
    "lcsw ldn ma mba md mph mpp ms msc msn mscs ncc np obe pa phd pharmd pmp psyd rd rdn rn "
    "sr".split()
)
# A part that contains one of these words is a job or a place in a house, not a name.
JOBS: Final = frozenset(
    "analyst anchor chief columnist commentator contributor contributors contributing "
    "correspondent deputy editor editors freelance fellow host intern journalist korrespondent "
    "photographer producer professor redakteur redakteurin redactor reporter reporters researcher "
    "specialist strategist student writer writers journaliste periodista giornalista director "
    "president founder ceo manager".split()
)
# A part that is made of nothing but these words names nobody.
NOBODY: Final = frozenset(
    "a about account admin administrator an anonymous author authors autor auteur blog bot by "
    "contact contributor correspondent date default desk digital editor editorial editors false "
    "from guest home in info journalist latest manager n na news newsroom nil nobody none null of "
    "office on online our post posted profile published redactie redaccion redakcja redaktion "
    "reporter reporters root site staff super team test the true undefined unknown updated user "
    "view web webmaster website wordpress wp writer writers www your".split()
)
# A part with one of these is a line about time or a button.
_NOISE: Final = re.compile(
    r"\b(?:ago|min(?:ute)?s?\s+read|read\s+more|updated|published|posted|comments?|share|follow|"
    r"subscribe|sign\s+(?:in|up)|copyright|all\s+rights|special\s+to|illustrations?\s+by|"
    r"minutes?|hours?|uhr|vor\s+\d+)\b|\d{1,2}:\d{2}|©|[@#{}<>=]|%%",
    re.IGNORECASE,
)
_DIGITS: Final = re.compile(r"\d{3}|\d.*\d.*\d")

# Small words inside a person's name.
PARTICLES: Final = frozenset(
    "al ap bin da de del della den der des di dos du e el ibn la le ten ter van von y zu".split()
)
_NAME_WORD: Final = re.compile(r"[^\W\d_][^\W\d_'’.\-]*(?:['’.\-][^\W\d_]*)*\.?")  # noqa: RUF001


def names(texts: Iterable[str]) -> list[str]:
    """The names in *texts*, each once, in their order."""
    found: dict[str, str] = {}
    for text in islice(texts, MAX_TEXTS):
        for part in _parts(clean(text)[:MAX_LINE]):
            name = _bare(part)
            if name and not _is_no_name(name):
                found.setdefault(folded(name) or name, name)
            if len(found) >= MAX_AUTHORS:
                return list(found.values())
    return list(found.values())


def without_sites(found: Iterable[str], known: frozenset[str]) -> list[str]:
    """The names that are not the site's own, whose spellings are *known*."""
    return [name for name in found if known.isdisjoint(spellings(name))]


def is_person(name: str) -> bool:
    """Whether *name* looks like one: two to five words, capitalised but for the particles."""
    words = name.split()
    if not 2 <= len(words) <= 5:  # noqa: PLR2004 - said in the docstring
        return False
    if set(folded(name).split()) & (JOBS | NOBODY):
        return False
    return all(
        _NAME_WORD.fullmatch(word)
        and (not word[0].islower() or (word.lower() in PARTICLES and 0 < place < len(words) - 1))
        for place, word in enumerate(words)
    )


def persons(texts: Iterable[str]) -> list[str]:
    """The names in *texts* that look like persons'; capitals beside other names are a button."""
    found = [name for name in names(texts) if is_person(name)]
    return [name for name in found if not name.isupper()] or found


def labelled(lines: Sequence[str]) -> Iterator[str]:
    """The texts behind `By`; a list of names may go on in the lines that follow."""
    for number, line in enumerate(lines):
        label = _BY.match(line)
        if not label:
            continue
        pieces = [line[label.end() :], *lines[number + 1 : number + 2 * MAX_LABELLED]]
        text = pieces[0] or (pieces[1] if len(pieces) > 1 else "")
        for piece in pieces[1 if pieces[0] else 2 :]:
            if not (_GOES_ON.search(text) or _GOES_ON.match(piece)):
                break
            text = f"{text} {piece}"
        yield text


def turned(text: str) -> str:
    """A name as libraries have it, `Last, First`, in the order in which it is spoken."""
    last, comma, first = (part.strip() for part in text.partition(","))
    return f"{first} {last}" if comma and first and "," not in first else text


def _parts(text: str) -> list[str]:
    text = " ".join(word for word in text.split() if not _ADDRESS.search(word))
    text = _without_labels(_BRACKETS.sub(" ", _MAIL.sub(" ", text)))
    return [
        name
        for strong in _STRONG.split(text)
        if not _is_sentence(strong)
        for each in _AND.split(strong)
        for name in _between_commas(each)
    ]


def _is_sentence(text: str) -> bool:
    return sum(word.islower() and word not in PARTICLES for word in text.split()) > MAX_LOWER


def _without_labels(text: str) -> str:
    for _ in range(3):  # `Author: By Ann Lee`
        text = _LABEL.sub("", text)
    return text


def _between_commas(text: str) -> list[str]:
    """The names in a list with commas; a degree or a job behind a name is none."""
    parts = [part for part in _COMMA.split(text) if part]
    return [part for part in parts if not _is_suffix(part)]


def _is_suffix(part: str) -> bool:
    words = folded(part.replace(".", "")).split()
    return bool(words) and all(word in DEGREES for word in words)


def _bare(part: str) -> str:
    return _without_labels(" ".join(part.split())).strip(_EDGE)


def _is_no_name(name: str) -> bool:
    words = folded(name).split()
    return (
        not words
        or len(name) > MAX_NAME
        or len(words) > MAX_WORDS
        or all(word in NOBODY for word in words)
        or bool(set(words) & JOBS and len(words) > 1)
        or bool(_NOISE.search(name))
        or bool(_DIGITS.search(name))
        or (any(map(str.isdigit, words)) and not dates.MONTH_NUMBER.keys().isdisjoint(words))
    )
