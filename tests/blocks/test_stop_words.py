"""Which words are among the commonest of their language."""

from __future__ import annotations

import pytest

from scrapy_mss.blocks.texts import is_stop_word
from scrapy_mss.markup.tokenizer import tokenize


@pytest.mark.parametrize(
    "text",
    [
        "She said that it was not all there would be.",
        "Der Zug ist nicht in die Stadt gekommen, und es ist auch nicht mehr das, was es war.",
        "Он сказал, что это не так, как на самом деле.",
        "Ella dijo que no es lo que se ve en la foto del periódico.",
    ],
)
def test_running_text_has_many(text: str) -> None:
    tokens = tokenize(text)

    assert is_stop_word(tokens.token_id[tokens.is_word]).mean() > 0.3


def test_a_menu_has_few() -> None:
    tokens = tokenize("Home News Sports Weather Business Travel Contact Imprint Privacy Archive")

    assert is_stop_word(tokens.token_id[tokens.is_word]).mean() < 0.1


def test_tags_are_no_stop_words() -> None:
    tokens = tokenize("<div><p><a href=x></a></p></div>")

    assert not is_stop_word(tokens.token_id).any()
