from __future__ import annotations

from research.systems.block_features import FEATURES, features
from research.systems.blocks import blocks
from research.systems.stopwords import stop_words
from scrapy_mss.markup.tokenizer import tokenize

# Two blocks. The first has 9 words of 29 letters in 3 sentences with 2 signs, 2 words in a link,
# 1 formatting tag, 2 list tags and 1 paragraph; the other has one word.
PAGE = (
    "<title>no</title><div>Rivers <b>reach</b> <a href='x'>the sea</a>.<ul><li>Is it? "
    "<select><option>no</select></ul><p>So say all</div><td>7"
)


def test_the_features_of_a_page_are_its_counts() -> None:
    tokens = tokenize(PAGE)
    found = blocks(tokens)

    values = dict(zip((f.name for f in FEATURES), features(tokens, found).tolist(), strict=True))

    del values["stop words"]
    assert found.words.tolist() == [9, 1]
    assert values == {
        "words a sentence": [3, 1],
        "sentences": [3, 1],
        "letters and digits": [29 / 31, 1],
        "words in links": [2 / 9, 0],
        "formatting tags": [1 / 9, 0],
        "list tags": [2 / 9, 0],
        "structuring tags": [1 / 9, 0],
    }


def test_stop_words_are_those_of_the_language_with_the_most() -> None:
    cases = [
        ("the zebra and the giraffe", 3),
        ("Das Zebra und die Giraffe", 3),
        ("le zèbre et la girafe", 3),
        ("Зебра и жираф", 1),  # noqa: RUF001
        # Words of two languages are not added up.
        ("the zebra and the giraffe und die", 3),
        ("zebra giraffe", 0),
    ]

    pages = [tokenize(f"<div>x-ray zebra</div><div>{text}") for text, _ in cases]

    found = [stop_words(tokens, blocks(tokens)).tolist()[-1] for tokens in pages]
    assert found == [expected for _, expected in cases]
