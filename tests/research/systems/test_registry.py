from __future__ import annotations

import pytest

from research.datasets.pages import Example
from research.systems import DRAWN, SYSTEMS, create, titled
from research.systems.base import Pretrained, SiteExtractor, TokenExtractor, Trainable
from research.systems.baselines import SimpleMss
from research.systems.external import PEERS
from research.systems.mss import Mss, SelfTrainedMss
from scrapy_mss import Extractor
from tests.helpers.news_pages import news_page

# test_external.py has the peers, test_vips.py what needs a browser.
OURS = [name for name in SYSTEMS if name not in {*PEERS, *DRAWN}]


@pytest.mark.parametrize("name", OURS)
def test_every_system_of_ours_is_created_learns_and_extracts(name: str) -> None:
    system = create(name)
    if isinstance(system, Pretrained):
        system.load_bundled()
    pages = [news_page(number) for number in range(3)]

    empty = system.extract("")
    if isinstance(system, Trainable):
        system.fit([Example(page.html, page.text) for page in pages])
    text = system.extract(news_page(9).html)

    assert empty == ""
    assert news_page(9).text.split()[20] in text
    assert isinstance(system, TokenExtractor)
    assert system.locate(news_page(9).html).text == text


def test_a_site_of_empty_pages_has_empty_texts() -> None:
    for name in OURS:
        system = create(name)
        if isinstance(system, SiteExtractor):
            assert system.extract_site(["", ""]) == ["", ""], name


def test_systems_that_read_a_site_at_once_are_known_by_it() -> None:
    assert [name for name in OURS if isinstance(create(name), SiteExtractor)] == [
        "mss-selftrained",
        "largest-pagelet",
    ]


def test_every_system_says_what_it_is() -> None:
    assert all(system.summary for system in SYSTEMS.values())


def test_what_is_made_after_others_words_is_a_reconstruction_and_called_one() -> None:
    by_own_paper = {"cetr", "cetr-km", "cetr-tm", "pso", "pso-pruned", "longest-block", "all-text"}

    reconstructed = {name for name in OURS if SYSTEMS[name].reconstruction}

    assert {"ccb", "dsc", "adsc", "largest-pagelet", "ttr-em"} <= reconstructed
    assert not reconstructed & {*by_own_paper, *(name for name in OURS if "mss" in name)}
    assert not any(SYSTEMS[name].reconstruction for name in PEERS)
    assert titled("ccb:radius=9") == "ccb:radius=9 (reconstruction)"
    assert titled("cetr") == "cetr"
    assert titled("unknown") == "unknown"


def test_the_bundled_model_comes_with_mss_alone() -> None:
    assert [name for name in OURS if isinstance(create(name), Pretrained)] == ["mss"]
    system = create("mss")
    assert isinstance(system, Pretrained)

    system.load_bundled()

    assert system.extract(news_page(9).html) == Extractor().extract(news_page(9).html).text


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
        ("simple-mss:penalty", "'penalty' in 'simple-mss:penalty' is no option"),
        ("simple-mss:penalty=1:bias=1", "'bias=1' in 'simple-mss:penalty=1:bias=1' is no option"),
        ("all-text:x=1", "none: this system has no options"),
        ("mss-paper:profile=nosuch", "no profile is called 'nosuch'; there are paper, "),
    ],
)
def test_a_wrong_spec_is_rejected_by_what_is_wrong(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match="no ") as caught:
        create(spec)

    assert message in str(caught.value)
