from __future__ import annotations

import pytest

from research.datasets.pages import Example
from research.systems import SYSTEMS, create
from research.systems.base import SiteExtractor, TokenExtractor, Trainable
from research.systems.baselines import SimpleMss
from research.systems.external import PEERS
from research.systems.mss import Mss, SelfTrainedMss
from tests.helpers.news_pages import news_page

OURS = [name for name in SYSTEMS if name not in PEERS]  # test_external.py has the others


@pytest.mark.parametrize("name", OURS)
def test_every_system_of_ours_is_created_learns_and_extracts(name: str) -> None:
    system = create(name)
    pages = [news_page(number) for number in range(3)]

    if isinstance(system, Trainable):
        system.fit([Example(page.html, page.text) for page in pages])
    text = system.extract(news_page(9).html)

    assert news_page(9).text.split()[20] in text
    assert isinstance(system, TokenExtractor)
    assert system.locate(news_page(9).html).text == text


@pytest.mark.parametrize("name", OURS)
def test_every_system_extracts_nothing_from_nothing(name: str) -> None:
    system = create(name)

    assert system.extract("") == ""
    if isinstance(system, SiteExtractor):
        assert system.extract_site(["", ""]) == ["", ""]


def test_systems_that_read_a_site_at_once_are_known_by_it() -> None:
    assert [name for name in OURS if isinstance(create(name), SiteExtractor)] == [
        "mss-selftrained",
        "largest-pagelet",
    ]


def test_every_system_says_what_it_is() -> None:
    assert all(system.summary for system in SYSTEMS.values())


def test_options_stand_behind_the_name() -> None:
    simple = create("simple-mss:penalty=-2.5")
    cleaneval = create("mss-cleaneval:bias=0.3:clean=True")
    by_profile = create("mss-paper:profile=paper-hr")
    trained = create("mss-selftrained:iterations=3")

    assert isinstance(simple, SimpleMss)
    assert simple.penalty == -2.5
    assert isinstance(cleaneval, Mss)
    assert (cleaneval.profile.name, cleaneval.profile.bias) == ("cleaneval", 0.3)
    assert isinstance(by_profile, Mss)
    assert by_profile.profile.name == "paper-hr"
    assert isinstance(trained, SelfTrainedMss)
    assert trained.options.iterations == 3


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "no system is called ''; there are mss, mss-paper, "),
        ("mss-papers", "no system is called 'mss-papers'; there are mss, mss-paper, "),
        ("MSS-PAPER", "no system is called 'MSS-PAPER'"),
        ("simple-mss:", "'' in 'simple-mss:' is no option"),
        ("simple-mss:penalty", "'penalty' in 'simple-mss:penalty' is no option"),
        ("simple-mss:bias=1", "with an option of penalty"),
        ("simple-mss:penalty=1:bias=1", "'bias=1' in 'simple-mss:penalty=1:bias=1' is no option"),
        ("all-text:x=1", "none: this system has no options"),
        ("mss-paper:=1", "with an option of profile, clean, bias"),
        ("mss-paper:profile=nosuch", "no profile is called 'nosuch'; there are paper, "),
    ],
)
def test_a_spec_with_a_fault_is_refused_by_what_is_wrong(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match="no ") as caught:
        create(spec)

    assert message in str(caught.value)
