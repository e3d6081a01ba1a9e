"""The inputs of a block classifier: their names, in order, and a digest of what they mean.

The weights of a classifier are valid only with the inputs with which it was trained. A
model file therefore has the name of each input and a digest of the input's values on a probe
page: an input that was added, removed, moved, or computed differently under the same name is
recognized and named.
"""

from __future__ import annotations

from functools import cache
from itertools import zip_longest
from typing import TypeAlias
from zlib import crc32

import numpy as np

from scrapy_mss.blocks.classifier import POOLINGS, block_evidence, block_inputs
from scrapy_mss.blocks.families import FAMILIES
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.page_features import (
    CONFIDENCE_FEATURES,
    ReadPage,
    confidence_features,
    page_feature_names,
    page_features,
)
from scrapy_mss.core.naive_bayes import NaiveBayes
from scrapy_mss.markup.tokens import Floats

Inputs: TypeAlias = dict[str, list[list[str]]]  # of each part of a classifier: (name, digest)

MAX_NAMED = 5  # inputs in a message
PRECISION = (
    1000  # values are compared in thousandths: machines differ in the last bit of a logarithm
)

PROBE_URL = "https://news.example/tag/2024/05/06/the-ferry-sails-again-123"
# A page on which no two features have the same values, if they are not always the same.
PROBE = """<!DOCTYPE html><html><head><title>The ferry sails again this Monday</title>
<meta name="description" content="The ferry sails again this Monday after four years.">
<script type="application/ld+json">{"@type": "NewsArticle", "author": "A"}</script></head><body>
<nav class="menu main"><ul><li><a href="/">Home</a></li><li><a href="/n">News</a></li></ul></nav>
<main><h1>The ferry sails again</h1><article class="story-body" id="s1"><p>After four years, the
ferry sails again: 12 passengers came on Monday. "We waited," said Ann.</p><h2>Rolls</h2>
<blockquote><p>A baker brought rolls; nobody paid!</p></blockquote><p>Read
<a href="/more">more on ferries</a> here.</p><div hidden>Not shown</div><table><tr><td>Six
minutes</td></tr></table><ol><li>One way: 40 minutes</li></ol><figure><figcaption>The
ferry</figcaption></figure><pre>x = 1</pre><section><p>The end?</p></section></article></main>
<aside><h3>More</h3><form><button>Subscribe now</button><select><option>Daily</option></select>
</form></aside><section><div class="story-text"><p>The harbour was empty for most of the year,
and nobody knew when a ship would come, or whether one would come at all: that is what Ann told us
when we met her on the pier. She had a table, a lamp and a book in which she wrote who came, and it
had been blank since the spring before last, when the last of the old crew had gone home for good.
</p><p>Twelve names, now.</p></div><ul><li>Crew: Bell, Carr, Dunn, Earl, Ford</li></ul></section>
<h1>Fares</h1><p>One way is four, and both ways are six.</p><footer><dl><dd>Imprint</dd></dl>
<p>Home</p></footer></body></html>"""


@cache
def classifier_inputs() -> Inputs:
    """The inputs that this version computes."""
    page = Page.of(PROBE, url=PROBE_URL)
    blocks = len(page.blocks)
    evidence = np.sin(np.arange(len(POOLINGS) * blocks)).reshape(len(POOLINGS), blocks)
    inputs = block_inputs(page, evidence, evidence[0])
    probability = np.linspace(0.1, 0.9, blocks)
    read = ReadPage(page, inputs, probability, probability > 0.4)  # noqa: PLR2004
    of_page = zip(page_feature_names(), page_features(read), strict=True)
    of_confidence = zip(CONFIDENCE_FEATURES, confidence_features(read), strict=True)
    rows = zip(POOLINGS, block_evidence(page, _probe_counts(page)), strict=True)
    return {
        "evidence": [[pooling.name, _digest(row)] for pooling, row in rows],
        "blocks": [[name, _digest(column)] for name, column in inputs.columns.items()],
        "pages": [[name, _digest(value)] for name, value in of_page],
        "confidence": [[feature.name, _digest(value)] for feature, value in of_confidence],
    }


def _probe_counts(page: Page) -> NaiveBayes[Page]:
    """Counts of the probe page itself, half of which is an article."""
    names = dict.fromkeys(pooling.family for pooling in POOLINGS)
    counts = NaiveBayes([FAMILIES[name] for name in names])
    counts.learn(page, page.blocks.of_token % 2 == 1)
    return counts


def _digest(values: Floats) -> str:
    rounded = np.round(values * PRECISION).astype("<i8")
    return f"{crc32(rounded.tobytes()):08x}"


def difference(stored: Inputs, computed: Inputs) -> str:
    """What tells the inputs of a file from those of this version."""
    differences = []
    for part in dict.fromkeys((*computed, *stored)):
        differences += _differences(part, stored.get(part, []), computed.get(part, []))
    return "; ".join(differences)


def _differences(part: str, stored: list[list[str]], computed: list[list[str]]) -> list[str]:
    there, here = [name for name, _ in stored], [name for name, _ in computed]
    found = []
    if only_there := [name for name in there if name not in here]:
        found.append(f"{part}: the model has {_shortened(only_there)} in addition")
    if only_here := [name for name in here if name not in there]:
        found.append(f"{part}: the model lacks {_shortened(only_here)}")
    if found:
        return found
    for number, (one, other) in enumerate(zip_longest(stored, computed), 1):
        if one != other:
            return [_first_difference(part, number, one, other)]
    return []


def _first_difference(
    part: str, number: int, stored: list[str] | None, computed: list[str] | None
) -> str:
    there, here = (stored or [""])[0], (computed or [""])[0]
    if there == here:
        return f"{part}: {there!r} is computed in another way"
    return f"{part}: input {number} of the model is {there!r}, here it is {here!r}"


def _shortened(names: list[str]) -> str:
    """The first few of *names*."""
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more
