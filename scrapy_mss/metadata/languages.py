"""Languages, as the primary subtag of BCP 47: `en` for `en-US`, `en_GB`, `eng` and `English`.

Strategy: the region is dropped, because it reveals where a template was made more often than how
the text is written, and users filter by language. Codes that name no language (`und`, `utf-8`)
give no value. Three-letter codes become two-letter ones where ISO 639-1 has them.

Where the page declares no language or a wrong one, py3langid detects it from the text (extra
`language`). It reads the beginning of the text alone: of 2,142 gold texts it classified four
differently by 300 characters than by all (`python -m research.studies.whole_article`). It knows a
hundred languages; what a page declares beyond these stays, as do languages that a paragraph does
not distinguish. The library takes a step of Python for each byte, a third of the time that a median
page's HTML takes to parse, so it is not used where common words confirm the declared language.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from scrapy_mss.pages.text import clean, remembered

_TAG: Final = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]{1,8})*", re.IGNORECASE)

# Codes for an undetermined language, and two- and three-letter strings that are no language.
NO_LANGUAGE: Final = frozenset("und mul mis zxx xx xxx www utf iso".split())

# Pairs: an outdated code, country code, three-letter code or written-out name, then the subtag.
_PAIRS: Final = """
iw he in id ji yi jp ja cn zh cz cs dk da gr el kr ko ua uk se sv
ara ar ces cs cze cs dan da deu de ger de ell el gre el eng en est et fin fi fra fr fre fr heb he
hin hi hun hu ind id ita it jpn ja kor ko lav lv lit lt nld nl dut nl nor no pol pl por pt ron ro
rum ro rus ru spa es swe sv tur tr ukr uk vie vi zho zh chi zh
arabic ar chinese zh dansk da deutsch de dutch nl english en español es français fr french fr
german de italian it italiano it japanese ja korean ko nederlands nl norsk no polish pl polski pl
portuguese pt português pt russian ru spanish es svenska sv turkish tr
""".split()
CODES: Final[Mapping[str, str]] = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))


# Subtags that one reader takes for the same language: a macrolanguage and what it is written as, a
# standard and the older name for it with its neighbour.
SAME: Final = (frozenset({"no", "nb", "nn"}), frozenset({"sr", "sh"}))


def accepted(asked: Iterable[str]) -> frozenset[str]:
    """The languages that articles may have of which those *asked* for are wanted.

    What is asked for may be an outdated code, such as `iw`; articles have the present one.
    """
    found = frozenset(CODES.get(language, language) for language in asked)
    return found.union(*(names for names in SAME if names & found))


@remembered(2**8)  # a site's pages name the same
def parse(text: str) -> str | None:
    """The language that *text* names, the first one of a list."""
    first = clean(text).partition(",")[0].strip().lower()
    if first in CODES:
        return CODES[first]
    match = _TAG.fullmatch(first)
    if not match or match[1] in NO_LANGUAGE:
        return None
    return CODES.get(match[1], match[1])


# --- by the commonest words ----------------------------------------------------------------------

ENOUGH_WORDS: Final = 3  # different words

COMMON_WORDS: Final = {
    "de": "und der im dem von mit ist für eine einer einem sich nicht auch nach bei wird dass sind "
    "haben beim zum zur gegen über wurde",
    "en": "the and that with from this have which were been their they would said about after its "
    "not who you your when than there could other into people first what how while because years "
    "his she our should it's some just can",
    "es": "los las y muy también hasta donde fue más sus cuando según años puede tras ayer hay "
    "hace aunque otros han nuevo mientras",
    "fr": "les dans une pour sur avec sont cette aux été leur ses nous être du selon avant ont "
    "depuis après",
    "it": "che della sono gli nel alla dei più anche dal delle questo è hanno nella dalla degli "
    "sul nei alle",
    "nl": "een niet zijn naar wordt deze werd voor heeft bij worden hebben ze zich geen hij waren "
    "zegt kunnen wij nieuwe",
    "pl": "w się jest oraz przez dla który która które że są został będzie czy także może nawet "
    "jednak tylko być gdy jego",
    "pt": "não uma são também pelo pela sua às até em um isso já há ele ainda depois muito disse",
    # ruff: noqa: RUF001 - letters of another alphabet
    "ru": "что это этом эти его был были было была чтобы когда только уже если также сообщил "
    "сообщает лет который которая которые году еще",
    "sv": "och att är för inte ett från också när ska vid där över genom sedan blir",
    "tr": "ve için ile olarak çok kadar ise olduğu göre gibi diye değil",
}
_WORDS: Final = {language: frozenset(words.split()) for language, words in COMMON_WORDS.items()}


def has_common_words(text: str, language: str) -> bool:
    """Whether *text* has so many of the commonest words of *language* that it must be in it.

    It is False, too, of a language that is not in the table.
    """
    words = _WORDS.get(language)
    return words is not None and len(words.intersection(text.lower().split())) >= ENOUGH_WORDS


# --- by the text ---------------------------------------------------------------------------------

logger = logging.getLogger(__name__)

ENOUGH: Final = 80  # bytes of letters for a page that is silent: a sentence, or a line of Chinese
CERTAIN: Final = 200  # for a page that says otherwise
READ: Final = 300  # characters: more take time and change nothing
_LETTERS: Final = re.compile(r"[^\W\d_]+")

# Of a language, what a page may call it instead: standards beside one another, and close relatives.
ALIKE: Final = ({"no", "nb", "nn"}, {"hr", "sr", "bs", "sh"}, {"id", "ms"}, {"zh", "yue", "wuu"})
N_LETTERS: Final = 2  # of its codes with three letters, the ones that it knows least from text


@lru_cache(1)
def detector() -> Any:  # noqa: ANN401 - of a library without types
    """The library's identifier of languages; None without the library, or its model."""
    try:
        from py3langid import langid
    except ImportError:
        return None
    try:
        return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE)
    except OSError as error:  # it unpacks 68 MB to a temporary file, and the disk is full
        logger.warning(
            "scrapy-mss: cannot load the model of py3langid: %s. Languages are those that pages "
            "declare. Free some space in the folder for temporary files (TMPDIR)",
            error,
        )
        return None


@lru_cache(1)
def known() -> frozenset[str]:
    """The languages that the library can detect."""
    ranked = detector().rank("")
    return frozenset(language for language, _ in ranked if len(language) == N_LETTERS)


def language_of(text: str | None, declared: str | None) -> str | None:
    """The language of *text*, by its words; else the one that its page has *declared*."""
    read = (text or "")[:READ]
    if declared and has_common_words(read, declared):
        return declared
    return language_by_bytes(read, declared)


def language_by_bytes(read: str, declared: str | None) -> str | None:
    """The same by the library alone, of the beginning that is *read* of a text."""
    letters = "".join(_LETTERS.findall(read)).encode()
    if len(letters) < (CERTAIN if declared else ENOUGH):
        return declared
    identifier = detector()
    if identifier is None or (declared and declared not in known()):
        return declared
    found = str(identifier.classify(read)[0])
    found = "zh" if found in ("yue", "wuu") else found  # as pages call it
    if declared and any(declared in names and found in names for names in ALIKE):
        return declared
    return found if found in known() else declared
