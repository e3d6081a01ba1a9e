from __future__ import annotations

from research.systems.blocks import FORMATTING, LISTS, blocks, opened
from scrapy_mss.markup.tokenizer import tokenize


def texts(source: str) -> list[str]:
    """The words of each block of *source*."""
    tokens = tokenize(source)
    numbers = blocks(tokens).number[tokens.is_word].tolist()
    found: dict[int, list[str]] = {}
    for word, number in zip(tokens.words(), numbers, strict=True):
        found.setdefault(number, []).append(word)
    found.pop(-1, None)
    return [" ".join(words) for _, words in sorted(found.items())]


def test_blocks_are_the_text_between_tags_that_are_neither_removed_nor_pruned() -> None:
    cases = [
        # Figure 1 of the paper: a link in a sentence does not break it into three blocks.
        (
            "<div>a press <a href='x'>release of</a> yesterday</div>",
            ["a press release of yesterday"],
        ),
        ("one<br>two <b>three</b>", ["one two three"]),
        ("<div><h1>one</h1><p>two<p>three<ul><li>four</ul></div>", ["one two three four"]),
        ("<div>one</div><div>two</div>", ["one", "two"]),
        ("<tr><td>one<td>two", ["one", "two"]),
        ("<div>one <div>two</div> three</div>", ["one", "two", "three"]),
        # What is pruned leaves no gap, and what has no word is no block.
        ("one <select><option>x</select> two", ["one two"]),
        ("<div>one <img src='x'> two</div>", ["one two"]),
        ("one <script>x</script><style>y</style> two", ["one two"]),
        ("<div>one</div> | <div> <img> </div>* <div>two</div>", ["one", "two"]),
        ("<div>one <object><div>x</div>y</object> two</div>", ["one two"]),
        ("<select>one", ["one"]),
        # A tag that nobody knows parts.
        ("one <x-y>two</x-y>", ["one", "two"]),
        ("", []),
    ]

    assert [(source, texts(source)) for source, _ in cases] == cases


def test_what_was_removed_is_counted_where_it_stood() -> None:
    tokens = tokenize("<ul><li><b>one</b><li>two</ul><div>three <em>four</div><i></i><div>")

    found = blocks(tokens)

    assert found.sums(opened(tokens, LISTS)).tolist() == [3, 0]
    assert found.sums(opened(tokens, FORMATTING)).tolist() == [1, 1]
