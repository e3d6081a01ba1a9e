"""The columns that `fill_containers` fills of some masses, by their names."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from scrapy_mss.blocks.features import Columns, container_names, fill_containers
from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.tokens import Floats


def container_features(page: Page, masses: Mapping[str, Floats]) -> Columns:
    """Shares of each of the *masses* (float64[n]), whose keys begin the names of their columns."""
    names = container_names(tuple(masses))
    rows = np.empty((len(names), len(page.blocks)))
    fill_containers(page, np.array(list(masses.values())), rows)
    return Columns(names, rows)
