from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from research.systems.bte import BodyText
from scrapy_mss.markup.tokens import Tokens
from tests.helpers.markup import SOUP, TAG_SOUP


def test_the_body_has_most_words_inside_and_tags_outside() -> None:
    cases = [
        # Over one tag to two words: 3 tags outside and 4 words inside, not 4 and 2.
        ("<p><p>a b<br>c d<p><ul>", "a b\nc d"),
        # Over two tags to two words gains nothing, to three words it does.
        ("<p>a b c<br><br>d e", "a b c"),
        ("<p>a b c<br><br>d e f", "a b c\n\nd e f"),
        # A sign is no word.
        ("<p>a b<br>! ? !", "a b"),
        ("<p>a b<br>c d !", "a b\nc d"),
        ("<p><p>", ""),
        ("", ""),
    ]

    assert [(source, BodyText().extract(source)) for source, _ in cases] == cases


@given(st.one_of(SOUP, TAG_SOUP))
def test_no_region_has_more_words_inside_and_tags_outside(source: str) -> None:
    system = BodyText()
    tokens = system.locate(source).tokens

    span = system.span(tokens)

    n = len(tokens)
    regions = ((start, end) for start in range(n + 1) for end in range(start, n + 1))
    assert objective(tokens, span.start, span.end) == max(
        objective(tokens, start, end) for start, end in regions
    )


def objective(tokens: Tokens, start: int, end: int) -> int:
    """Finn's: the tags before a region, the words in it and the tags behind it."""
    tags = tokens.is_tag
    return int(tags[:start].sum() + tokens.is_word[start:end].sum() + tags[end:].sum())
