from __future__ import annotations

import pytest

from research.systems.baselines import LongestBlock, SimpleMss


@pytest.mark.parametrize(
    ("penalty", "expected"), [(-3.25, "one two"), (-1.0, "one two\n\nthree four")]
)
def test_simple_mss_reaches_over_tags_as_far_as_the_penalty_lets_it(
    penalty: float, expected: str
) -> None:
    source = "<ul><li>x</ul><p>one two<p>three four</p><ul><li>y</ul>"

    assert SimpleMss(penalty=penalty).extract(source) == expected


def test_the_longest_block_is_the_box_with_the_most_text() -> None:
    cases = [
        ("<div>one</div><div>three three</div><div>two</div>", "three three"),
        ("<td>one</td><td>three three</td>", "three three"),
        # Characters count, words do not.
        ("<div>a b c</div><div>abcdef</div>", "abcdef"),
        # A box holds what is in the boxes in it; of equal ones the first.
        ("<div>one<div>two two</div></div><div>three th</div>", "one\n\ntwo two"),
        ("<div><div>one</div></div><div>one</div>", "one"),
        # Markup and code are no characters of text.
        (f"<div>one<a href='{'x' * 99}'></a></div><div>four four</div>", "four four"),
        (f"<div>one<script>{'x' * 99}</script></div><div>four four</div>", "four four"),
        # A box that is never closed is none; without one it is the whole page.
        ("<div>one</div><div>three three", "one"),
        ("<p>one</p><section>two</section>", "one\n\ntwo"),
        ("<div>one", "one"),
        ("", ""),
    ]

    assert [(source, LongestBlock().extract(source)) for source, _ in cases] == cases
