from __future__ import annotations

from research import systems as registry
from research.bench import measurement
from research.bench.scoring import Answer
from tests.research.bench.fakes import Common, Everything, create, page


def answer(system: object, *asked: int) -> list[Answer]:
    """What *system* says of the pages of these numbers, in their order."""
    given = [page(number) for number in asked]
    return [each for _, each in sorted(measurement.answers(system, given))]  # type: ignore[arg-type]


def test_an_oracle_is_told_the_gold_and_others_are_not() -> None:
    class Told(Everything):
        def extract_best(self, html: str, gold: str) -> str:
            return gold if html else ""

    assert answer(Told(), 3)[0].text == page(3).golds[0]
    assert answer(Everything(), 3)[0].text != page(3).golds[0]


def test_a_crash_is_the_failure_of_one_page() -> None:
    fragile = create("fragile")

    before, broken, after = answer(fragile, 0, 1, 2)

    assert (broken.text, broken.error) == ("", "RuntimeError: no way through")
    assert before.error is after.error is None
    assert after.text


def test_a_site_system_gets_all_pages_of_a_site_and_group_at_once() -> None:
    system = Common()
    given = [page(0), page(1, "b.example"), page(2), page(3, group="2005")]

    found = dict(measurement.answers(system, given))

    assert system.calls == [2, 1, 1]
    assert [found[n].text for n in range(4)] == [each.golds[0] for each in given]


def test_a_system_that_locates_is_scored_by_position() -> None:
    (located,), (extracted,) = answer(registry.create("all-text"), 0), answer(Everything(), 0)

    assert located.positions is not None
    assert located.positions.r == 1 > located.positions.p > 0.5
    assert extracted.positions is None
