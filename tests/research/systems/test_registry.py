from __future__ import annotations

import pytest

from research.datasets.pages import Example
from research.systems import DRAWN, SYSTEMS, create
from research.systems.base import Pretrained, SiteExtractor, TokenExtractor, Trainable
from research.systems.external import PEERS
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
    if isinstance(system, SiteExtractor):
        found = system.extract_site([page.html for page in pages])
        assert all(page.text in each for page, each in zip(pages, found, strict=True))
