from __future__ import annotations

from html import unescape

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_mss.markup.references import ANY_REFERENCE, decode, decode_value, unescaped

FREQUENT = ("&quot;", "&#34;", "&#39;", "&lt;", "&gt;", "&amp;")
PIECES = st.lists(st.sampled_from([*FREQUENT, "quot;", "#39;", "amp;", "a", "=", " "]), max_size=12)


@given(PIECES.map("".join))
@example("&amp;quot;&quot;")
@example("&amp;amp;lt;&lt;amp;")
def test_frequent_references_are_decoded_once(value: str) -> None:
    assert decode_value(value) == ANY_REFERENCE.sub(lambda found: decode(found[0]), value)


@pytest.mark.parametrize(
    ("value", "decoded"),
    [
        ("{&quot;a&quot;: &#39;&lt;b&gt;&#39;}", "{\"a\": '<b>'}"),
        ("?a=1&copy=2&quot;", '?a=1&copy=2"'),
        ("&amp;lt;", "&lt;"),
        ("&quot", '"'),
        ("&", "&"),
    ],
)
def test_the_ampersand_of_an_address_is_no_reference(value: str, decoded: str) -> None:
    assert decode_value(value) == decoded


@given(st.one_of(st.text(st.sampled_from("&#x;19aAlt< ")), PIECES.map("".join)))
def test_references_are_those_of_the_library(text: str) -> None:
    assert unescaped(text) == unescape(text)


def test_a_number_of_any_length_is_no_character() -> None:
    number = f"&#{'9' * 5000}"

    assert unescaped(f"a {number};&lt;{number} &#65;") == "a \ufffd<\ufffd A"
