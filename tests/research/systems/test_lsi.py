from __future__ import annotations

from research.systems.lsi import LargestSizeIncrease


def test_the_element_wins_that_has_most_beyond_its_largest_child() -> None:
    cases = [
        # 7 - 3 characters for the box, 3 for the largest paragraph.
        ("<b>x</b><div><p>aaa</p><p>bbb</p><p>c</p></div>", "aaa\n\nbbb\n\nc"),
        # 7 - 4 for the outer box, 4 for the first inner one.
        ("<div><div>aaaa</div><div>bbb</div></div>", "aaaa"),
        # What wraps adds nothing, and is not the winner.
        ("<div><div><p>aa</p><p>bb</p>c</div></div>", "aa\n\nbb\n\nc"),
        # The page counts: 5 - 2, and before an element with as much.
        ("<p>aa</p>bbb", "aa\n\nbbb"),
        ("<p>aa</p>bb", "aa\n\nbb"),
        ("<p>aa</p>b", "aa"),
        # What is not closed is none.
        ("<div>aaaa<p>b</p>", "aaaa\n\nb"),
        # Markup and code are no size.
        (f"<p>aa</p><i title={'x' * 99}></i><script>{'x' * 99}</script>", "aa"),
        ("", ""),
    ]

    assert [(source, LargestSizeIncrease().extract(source)) for source, _ in cases] == cases
