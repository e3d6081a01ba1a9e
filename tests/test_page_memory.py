"""What is kept of a page, and what learning it takes at its peak, in bytes for each byte of page.

Python and NumPy count what they allocate: the figures hardly differ between machines.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable

import numpy as np

from scrapy_mss import Extractor
from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.files import bundled_model

SIZE = 200_000  # characters
TITLE = "<title>Rain falls in May</title><h1>Rain falls in May</h1>"
WIDE_TABLE = f"{TITLE}<table><tr>" + "<td>ab</td>" * (SIZE // 11)
DENSE = f"{TITLE}<p>" + "a b " * (SIZE // 4)


def taken(perform: Callable[[], object], page: str) -> tuple[float, float]:
    """What the second call of *perform* keeps, and its peak: caches are filled by the first."""
    perform()
    gc.collect()
    tracemalloc.start()
    try:
        result = perform()
        kept, peak = tracemalloc.get_traced_memory()
        del result
    finally:
        tracemalloc.stop()
    return kept / len(page), peak / len(page)


def test_an_explanation_keeps_no_reasons_that_nobody_asked_for() -> None:
    extractor = Extractor()

    kept, _ = taken(lambda: extractor.explain(WIDE_TABLE), WIDE_TABLE)

    assert kept < 35


def test_learning_a_dense_page_counts_it_in_portions() -> None:
    model, tokens = bundled_model(), tokenize(DENSE)
    inside = np.ones(len(tokens), np.bool_)

    _, peak = taken(lambda: model.bayes.observe(Page(tokens), inside), DENSE)

    assert peak < 16


def test_an_extraction_keeps_one_column_of_what_is_in_blocks() -> None:
    extractor, tokens = Extractor(), tokenize(DENSE)

    kept, _ = taken(lambda: extractor.extract_page(Page(tokens)), DENSE)

    assert kept < 14
