from __future__ import annotations

import pytest

import scrapy_mss


def test_public_names_are_there_and_no_others() -> None:
    assert set(scrapy_mss.__all__) <= set(dir(scrapy_mss))
    assert all(getattr(scrapy_mss, name) is not None for name in scrapy_mss.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nosuch'"):
        _ = scrapy_mss.nosuch
