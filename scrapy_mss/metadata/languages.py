"""Languages, as the primary subtag of BCP 47: `en` for `en-US`, `en_GB`, `eng` and `English`.

Strategy: the region is dropped, because it reveals where a template was made more often than how
the text is written, and users filter by language. Codes that name no language (`und`, `utf-8`)
give no value. Three-letter codes become two-letter ones where ISO 639-1 has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from scrapy_mss.metadata.text import clean

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


def parse(text: str) -> str | None:
    """The language that *text* names, the first one of a list."""
    first = clean(text).partition(",")[0].strip().lower()
    if first in CODES:
        return CODES[first]
    match = _TAG.fullmatch(first)
    if not match or match[1] in NO_LANGUAGE:
        return None
    return CODES.get(match[1], match[1])
