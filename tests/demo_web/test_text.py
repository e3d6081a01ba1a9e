from __future__ import annotations

import re
from collections import Counter

import pytest
from demo_web.text import LANGUAGES, SLOT, WORDS, Writer, sections

TOPICS = [
    pytest.param(path.parent.name, path.stem, id=f"{path.parent.name}-{path.stem}")
    for path in sorted(WORDS.glob("*/*.txt"))
    if path.stem != "general"
]


@pytest.mark.parametrize(("language", "topic"), TOPICS)
def test_every_slot_of_every_entry_has_a_section(language: str, topic: str) -> None:
    found = sections(language, topic)
    known = {*found, "a", "b", "c", "a_last", "name", "short"}

    wanted = {
        match[3].lower()
        for section in found.values()
        for entry in section.entries
        for match in SLOT.finditer(entry)
        if match[3]
    }

    assert wanted <= known


@pytest.mark.parametrize(("language", "topic"), TOPICS)
def test_what_is_written_has_no_trace_of_the_grammar(language: str, topic: str) -> None:
    writer = Writer(language, topic, "trace")
    kinds = ("headline", "lead", "sentence", "detail", "quote", "closing", "comment", "summary")

    text = " ".join(writer.several(kind, 40) for kind in kinds)

    assert not re.search(r"[{}(|\[\]/]", text)  # closing brackets are how Russians smile
    assert not re.search(r"  | [.,]|,[.,]|\.\.(?!\.)", text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_same_seed_writes_the_same(language: str) -> None:
    first, second, other = (
        Writer(language, "council", seed).several("sentence", 20) for seed in ("1", "1", "2")
    )

    assert first == second
    assert first != other


def test_no_entry_comes_again_before_all_have_come() -> None:
    writer = Writer("en", "council", "deck")
    entries = writer.sections["sentence"].entries

    drawn = Counter(writer.draw("sentence") for _ in range(2 * len(entries)))

    assert set(drawn.values()) == {2}


def test_people_are_introduced_once() -> None:
    writer = Writer("en", "sport", "people")

    first, second = writer.named("a"), writer.named("a")

    assert first.count(",") >= 2
    assert first.startswith(writer.settled["a"])
    assert writer.settled["a"].endswith(f" {second}")


@pytest.mark.parametrize(
    ("language", "pattern", "written"),
    [
        ("en", "A apple, a union and a one-way street.", "An apple, a union and a one-way street."),
        ("en", "said {a}.", None),
        ("en", "it cost {4321-4321} in {1987-1987}.", "It cost 4,321 in 1987."),
        ("de", "es kostete {4321-4321} im Jahr {1987-1987}.", "Es kostete 4.321 im Jahr 1987."),
        ("ru", "в вторник – {21-21} лет.", "Во вторник – 25 лет."),  # noqa: RUF001 - Russian
    ],
)
def test_a_pattern_is_finished_as_the_language_asks(
    language: str, pattern: str, written: str | None
) -> None:
    writer = Writer(language, "council", "finish")

    text = writer.finish(writer.expand(pattern))

    assert text == written if written else text.endswith(f"{writer.settled['a_role']}.")
