"""Common words confirm the language that they are of, and no other."""

# ruff: noqa: RUF001 - words of other alphabets

from __future__ import annotations

import pytest

from scrapy_mss.metadata.languages import COMMON_WORDS, ENOUGH_WORDS, has_common_words

WORDS = {language: words.split() for language, words in COMMON_WORDS.items()}

# Relatives and neighbours, declared as what they are not.
OTHERS = {
    "af": ("nl", "Die boot vaar weer ná die storm en dit was vir almal in die hawe nog nie klaar."),
    "bg": ("ru", "Корабът отново плава и хората от града са доволни, че бурята най-после мина."),
    "cs": ("pl", "Trajekt po bouři zase pluje a na nábřeží je jako vždy do večera plno lidí."),
    "da": ("sv", "Færgen sejler igen efter stormen, og det er der mange som er glade for i byen."),
    "gl": ("es", "O barco navega de novo despois da tormenta, pero aínda hai moito que facer."),
    "nl": ("en", "De boot vaart weer en dat is was of wordt voor de stad van groot belang."),
    "uk": ("ru", "Пором знову ходить після бурі, і це для міста велика подія, як кажуть люди."),
}


@pytest.mark.parametrize("language", WORDS)
def test_so_many_different_words_confirm_their_language_alone(language: str) -> None:
    words = WORDS[language]

    assert has_common_words(" ".join(words[:ENOUGH_WORDS]).upper(), language)
    assert not has_common_words(" ".join(words[: ENOUGH_WORDS - 1] * ENOUGH_WORDS), language)
    for other in WORDS:
        assert has_common_words(" ".join(words), other) == (other == language)


@pytest.mark.parametrize("spoken", OTHERS)
def test_a_relative_is_not_confirmed(spoken: str) -> None:
    declared, text = OTHERS[spoken]

    assert not has_common_words(text, declared)


def test_a_language_without_words_is_never_confirmed() -> None:
    assert not has_common_words("the and which", "xx")
    assert not has_common_words("", "en")
