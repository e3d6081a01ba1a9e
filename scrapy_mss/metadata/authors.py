"""Names of authors, extracted from the texts that pages show as author.

Strategy: precision before recall. A text is split at the separators of names, each part is stripped
of what surrounds a name (`By`, an e-mail address, a degree), and parts that are no name are dropped
(`NOT_A_NAME`: a URL, a date, a job title, `admin`). All others are kept, including organizations: a
page whose author field contains `Reuters` means it. Texts from less reliable places, such as the
text of an element whose class is `byline`, must also look like the name of a person (`is_person`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from scrapy_mss.metadata.dates import MONTH_NUMBER
from scrapy_mss.pages.text import clean, folded, remembered, spellings

MAX_NAME: Final = 60  # characters
MAX_WORDS: Final = 7  # `The Editorial Board of the Daily News`; a sentence has more
MAX_LOWER: Final = 5  # words in lower case: `Ann Lee, staff writer for the paper` has five
MAX_LINE: Final = 2_000  # characters of one text: about a hundred names
MAX_TEXTS: Final = 500
MAX_AUTHORS: Final = 50  # physics papers have thousands, which no feed needs
PERSON_WORDS: Final = range(2, 6)  # `Ann Lee` to `Ana de la Cruz Lima`; more is a phrase

# --- what surrounds a name ------------------------------------------------------------------------

# Removed from the front of a text. Words with which names begin, too (Von Miller), must be followed
# by two words.
_LABEL: Final = re.compile(
    r"^\W*(?:"
    r"(?:written|posted|published|reported|reviewed|edited|story|text|words|article|photos?)"
    r"\s+(?:and\s+\w+\s+)?by\b|by\b|view orcid profile|"
    r"(?:author(?:s|\(s\))?|autore?|autorin|auteur|text|yazan|автор)\s*[:：]|"  # noqa: RUF001
    r"(?:von|por|par|door|av|af|di|przez)(?=\s+\S+\s+\S)"
    r")\s*:?\s*",
    re.IGNORECASE,
)
MAX_LABELS: Final = 3  # in front of a name: `Author: By Ann Lee`
_EMAIL: Final = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
_URL: Final = re.compile(r"(?:https?:|//|www\.)|/[^/.]*\.", re.IGNORECASE)
_IN_URLS: Final = ":/."  # no URL is without all of them
_BRACKETS: Final = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|[\"“”]")
_EDGE: Final = " \t.,;:|/\\-–—•·*_~'’‘`<>(){}[]=+&"  # noqa: RUF001 - typographic dashes

# The label of a line with a name, and the edges of a line whose list of names continues.
_BY: Final = re.compile(
    r"\W*(?:(?:written|posted|published|reported|words|text|story)\s+)?"
    r"(?:by|von|por|par|door|av|af|di|przez|author|autore?)\b\s*:?\s*",
    re.IGNORECASE,
)
_CONTINUES: Final = re.compile(
    r"^\W*(?:,|&|and\b|und\b|et\b|y\b)|(?:,|&|\band|\bund|\bet|\by)\W*$", re.IGNORECASE
)
MAX_BYLINE: Final = 8  # names after one label

# --- what separates names -------------------------------------------------------------------------

_STRONG: Final = re.compile(r"\s*(?:;|\||•|·|\s[-–—/]\s|/)\s*")  # noqa: RUF001 - as above
_AND: Final = re.compile(
    r"\s*,?\s+(?:and|und|et|y|og|och|with|mit|&|\+|及|和)\s+|\s*[、,]\s*(?=and\s)|\s*[、]\s*",
    re.IGNORECASE,
)
_COMMA: Final = re.compile(r"\s*[,،，]\s*")  # noqa: RUF001 - the commas of Arabic and Chinese

# --- what is not a name ---------------------------------------------------------------------------

DEGREES: Final = frozenset(
    "aicp ba bs bsc cfa cfp cpa dds do dr dvm edd esq facc faap facs frcp ii iii jd jr llb llm "
    "lcsw ldn ma mba md mph mpp ms msc msn mscs ncc np obe pa phd pharmd pmp psyd rd rdn rn "
    "sr".split()
)
# A part with one of these words is a job title, not a name.
JOB_TITLES: Final = frozenset(
    "analyst anchor chief columnist commentator contributor contributors contributing "
    "correspondent deputy editor editors freelance fellow host intern journalist korrespondent "
    "photographer producer professor redakteur redakteurin redactor reporter reporters researcher "
    "specialist strategist student writer writers journaliste periodista giornalista director "
    "president founder ceo manager".split()
)
# A part without any other word names nobody.
PLACEHOLDER_WORDS: Final = frozenset(
    "a about account admin administrator an anonymous author authors autor auteur blog bot by "
    "contact contributor correspondent date default desk digital editor editorial editors false "
    "from guest home in info journalist latest manager n na news newsroom nil nobody none null of "
    "office on online our post posted profile published redactie redaccion redakcja redaktion "
    "reporter reporters root site staff super team test the true undefined unknown updated user "
    "view web webmaster website wordpress wp writer writers www your".split()
)
_OF_NO_PERSON: Final = JOB_TITLES | PLACEHOLDER_WORDS
# A part with one of these is a line about time or a button.
_NOISE: Final = re.compile(
    r"\b(?:ago|min(?:ute)?s?\s+read|read\s+more|updated|published|posted|comments?|share|follow|"
    r"subscribe|sign\s+(?:in|up)|copyright|all\s+rights|special\s+to|illustrations?\s+by|"
    r"minutes?|hours?|uhr|vor\s+\d+)\b|\d{1,2}:\d{2}|©|[@#{}<>=]|%%",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"\d{3}|\d.*\d.*\d")

# A name that no rule here takes apart or drops, as most are: two or three words in letters alone,
# none of which is one that a rule looks for.
_PLAIN_NAME: Final = re.compile(r"[A-Z][a-z]+ (?:[A-Z][a-z]+ )?[A-Z][a-z]+")
_TELLING_WORDS: Final = (
    DEGREES
    | _OF_NO_PERSON
    | frozenset(
        "af ago and av by comment comments copyright di door et follow hour hours minute minutes "
        "mit och og par por posted przez published read rights share sign special subscribe uhr "
        "und updated view von with".split()
    )
)

# Lower-case words inside the name of a person.
PARTICLES: Final = frozenset(
    "al ap bin da de del della den der des di dos du e el ibn la le ten ter van von y zu".split()
)
_NAME_WORD: Final = re.compile(r"[^\W\d_][^\W\d_'’.\-]*(?:['’.\-][^\W\d_]*)*\.?")  # noqa: RUF001


class NameRule(NamedTuple):
    """One reason why a text is not a name; *applies* gets the text and its folded words."""

    name: str
    example: str
    applies: Callable[[str, Sequence[str]], bool]


NOT_A_NAME: Final = (
    NameRule("too long", "Ann" * MAX_NAME, lambda text, _: len(text) > MAX_NAME),
    NameRule(
        "too many words",
        "Rain is what we want to have now",
        lambda _, words: len(words) > MAX_WORDS,
    ),
    NameRule(
        "placeholders only", "Editorial Team", lambda _, words: PLACEHOLDER_WORDS.issuperset(words)
    ),
    NameRule(
        "job title",
        "Senior Editor",
        lambda _, words: len(words) > 1 and not JOB_TITLES.isdisjoint(words),
    ),
    NameRule("noise", "Read more", lambda text, _: bool(_NOISE.search(text))),
    NameRule("number", "Studio 1234", lambda text, _: bool(_NUMBER.search(text))),
    NameRule(
        "date",
        "March 5",
        lambda _, words: any(map(str.isdigit, words)) and not MONTH_NUMBER.keys().isdisjoint(words),
    ),
)


def author_names(texts: Iterable[str]) -> list[str]:
    """The names in *texts*, each once, in the order of their first occurrence."""
    names: dict[str, str] = {}
    for text in islice(filter(None, texts), MAX_TEXTS):
        for form, name in _names_in(text):
            names.setdefault(form, name)
            if len(names) >= MAX_AUTHORS:
                return list(names.values())
    return list(names.values())


@remembered(2**8)  # names are read where they are, and then as authors
def _names_in(text: str) -> tuple[tuple[str, str], ...]:
    """The names in *text*, each with its folded form."""
    if len(text) <= MAX_NAME and _PLAIN_NAME.fullmatch(text):
        form = text.lower()
        if _TELLING_WORDS.isdisjoint(form.split(" ")):
            return ((form, text),)
    parts = _parts(clean(text)[:MAX_LINE].rstrip())
    names = (_without_labels(" ".join(part.split())).strip(_EDGE) for part in parts)
    return tuple((folded(name), name) for name in names if is_name(name))


def is_name(text: str) -> bool:
    """Whether no rule of `NOT_A_NAME` applies to *text*."""
    words = folded(text).split()
    return not any(rule.applies(text, words) for rule in NOT_A_NAME)


def without_site_names(names: Iterable[str], site_names: frozenset[str]) -> list[str]:
    """The names that are not the site's own, in one of its spellings."""
    return [name for name in names if site_names.isdisjoint(spellings(name))]


def is_person(name: str) -> bool:
    """Whether *name* looks like a person's: a few words, capitalized except for particles."""
    words = name.split()
    if len(words) not in PERSON_WORDS:
        return False
    if not _OF_NO_PERSON.isdisjoint(folded(name).split()):
        return False
    return all(
        _NAME_WORD.fullmatch(word)
        and (not word[0].islower() or (word.lower() in PARTICLES and 0 < place < len(words) - 1))
        for place, word in enumerate(words)
    )


def person_names(texts: Iterable[str]) -> list[str]:
    """The names in *texts* that look like persons'; one in capitals next to others is a button."""
    names = [name for name in author_names(texts) if is_person(name)]
    return [name for name in names if not name.isupper()] or names


def labelled_names(lines: Sequence[str]) -> Iterator[str]:
    """The texts after `By`, with the following lines as long as the list of names continues."""
    for number, line in enumerate(lines):
        label = _BY.match(line)
        if not label:
            continue
        following = list(lines[number + 1 : number + 2 * MAX_BYLINE])
        text = line[label.end() :] or (following.pop(0) if following else "")
        for each in following:
            if not (_CONTINUES.search(text) or _CONTINUES.match(each)):
                break
            text = f"{text} {each}"
        yield text


def in_direct_order(text: str) -> str:
    """A name in the inverted order of library catalogues, `Last, First`, as `First Last`."""
    last, comma, first = (part.strip() for part in text.partition(","))
    return f"{first} {last}" if comma and first and "," not in first else text


def _parts(text: str) -> list[str]:
    """The parts of *text* between separators, without URLs, e-mail addresses and degrees."""
    if any(map(text.__contains__, _IN_URLS)):
        text = " ".join(word for word in text.split() if not _URL.search(word))
    text = _EMAIL.sub(" ", text) if "@" in text else text
    # With single spaces, as before: of a run of them each begins a search.
    text = _without_labels(" ".join(_BRACKETS.sub(" ", text).split()))
    return [
        part
        for line in _STRONG.split(text)
        if not _is_sentence(line)
        for items in _AND.split(line)
        for part in _COMMA.split(items)
        if part and not _is_degree(part)
    ]


def _is_sentence(text: str) -> bool:
    return sum(word.islower() and word not in PARTICLES for word in text.split()) > MAX_LOWER


def _without_labels(text: str) -> str:
    for _ in range(MAX_LABELS):
        label = _LABEL.match(text)
        if label is None:
            break
        text = text[label.end() :]
    return text


def _is_degree(part: str) -> bool:
    words = folded(part.replace(".", "")).split()
    return bool(words) and DEGREES.issuperset(words)
