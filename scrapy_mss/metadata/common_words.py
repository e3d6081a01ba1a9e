"""The commonest words of the languages that most news is in, and whether a text has some of them.

A text that a page declares as English, and that has "the", "and" and "which", need not be looked at
closer. A word is left out of its language where a relative has it, too ("nie" is Polish and Slovak,
"pero" Spanish and Galician), or a neighbour another one ("was" is German, "has" Spanish): a name or
a quotation brings one or two of another language, no sentence brings three.
"""

from __future__ import annotations

from typing import Final

ENOUGH: Final = 3  # different words

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
    return words is not None and len(words.intersection(text.lower().split())) >= ENOUGH
