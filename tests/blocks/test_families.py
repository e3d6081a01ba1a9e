"""What each family computes of a page, pinned: stored counts are of these values.

Where a digest differs, stored counts no longer have the meaning of what is computed: raise the
family's ``version`` (blocks/families.py), train the bundled model again, and add a row here.
"""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.families import CLASS_WORDS, FAMILIES, SHAPE
from scrapy_mss.blocks.lessons import VERSION
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.places import LIKELY, places
from scrapy_mss.blocks.scripts import script_of
from scrapy_mss.blocks.traits import traits
from scrapy_mss.core.hashing import MULTIPLIERS, buckets
from scrapy_mss.core.naive_bayes import NaiveBayes
from scrapy_mss.markup.attributes import class_words
from scrapy_mss.markup.tags import BLOCK_TAGS
from scrapy_mss.markup.tokens import OPEN
from scrapy_mss.models.profiles import PROFILES, Profile
from scrapy_mss.sites.memory import KEYS_VERSION, BlockKeys
from tests.helpers.effort import examples
from tests.helpers.layouts import PAGES, tag_of


def bucket_of(word: str) -> int:
    hashed = np.array([crc32(word.encode())], np.uint64) * MULTIPLIERS[0]
    return int(buckets(hashed, CLASS_WORDS.bits)[0])


@given(PAGES, st.integers(0, 99))
@examples(2)
def test_class_words_are_counted_for_every_token_of_every_element(source: str, seed: int) -> None:
    page = Page.of(source)
    tokens = page.tokens
    inside = np.random.default_rng(seed).random(len(tokens)) < 0.5
    expected: Counter[tuple[int, bool]] = Counter()
    for at in range(len(tokens)):
        close = int(tokens.partner[at])
        if tokens.kind[at] == OPEN and close >= 0 and tag_of(tokens, at) in BLOCK_TAGS:
            for word in class_words(tokens.html(at, at + 1)):
                expected.update((bucket_of(word), is_in) for is_in in inside[at:close].tolist())
    bayes = NaiveBayes([CLASS_WORDS])

    bayes.learn(page, inside)

    counts = bayes.counts[CLASS_WORDS.name]
    found = {(int(b), bool(c)): int(counts[b, c]) for b, c in np.argwhere(counts)}
    assert found == dict(expected)


def shapes(*sizes: int, linked: int = 0) -> list[int]:
    """The shapes of paragraphs of so many words, the first *linked* of each in a link."""
    paragraphs = (f"<p><a>{'one ' * linked}</a>{'one ' * (n - linked)}</p>" for n in sizes)
    return list(SHAPE.values(Page.of("".join(paragraphs)), SHAPE.bits).bucket.tolist())


def test_blocks_of_one_length_between_blocks_of_one_length_have_one_shape() -> None:
    first, *middle, last = shapes(*[20] * 6)

    assert len({first, *middle, last}) == 3
    assert len(set(middle)) == 1


@pytest.mark.parametrize(
    "others",
    [shapes(40, 80, 40), shapes(20, 40, 40), shapes(40, 40, 20), shapes(40, 40, 40, linked=40)],
    ids=["longer", "after a shorter one", "before a shorter one", "linked"],
)
def test_the_shape_is_of_the_length_the_links_and_the_neighbours(others: list[int]) -> None:
    assert others[1] != shapes(40, 40, 40)[1]


PAGE = """<!DOCTYPE html><html lang=en><head><title>Tests &amp; pages</title>
<script>var dropped = "<p>dropped</p>";</script><style>p { color: red }</style></head>
<body class="story Long-Form storyBody2" id=top><!-- a comment --><nav><ul class="menu nav-main">
<li><a href="/">Home</a><li><a href=/news?page=2>News</a></ul></nav>
<article class='story_body x1'><h1>Running dogs relate 3 caf&eacute;s</h1>
<p>The &ldquo;relational&rdquo; test\u2019s 1,234.5 results: caresses, ponies &#8212; and 12:30.
<br>A second line; e.g. na\u00efve co-operation (M\u00fcnchen, \u0141\u00f3d\u017a) costs
\u20ac5 or 50&nbsp;%.</p>
<p class="lead" style="display:none">Hidden words</p><p hidden>More of them</p>
<foo>\u4e2d\u6587\u65b0\u805e \u0441\u043e\u0431\u0430\u043a\u0438 <bar>
\u0627\u0644\u0643\u0644\u0627\u0628</bar></foo>
<table><tr><td>One<td>Two</table><img src=a.jpg alt="A dog"><hr></p></b></article>
<pre>  code  here </pre><div class="related"><p><a href="/1">Related</a> story <em>here</em></div>
<footer>Copyright 2009 &copy; | <a>Terms</a></footer></body></html>"""

# By family, version and stemmer.
PINNED = {
    ("trigram", 1, "porter_nltk"): "279f2f0d628f95d8",
    ("unclosed_tag", 1, "porter_nltk"): "72e6857a557ce1b7",
    ("unigram", 1, "porter_nltk"): "8fde732795b91c60",
    ("unigram", 1, "porter"): "8fde732795b91c60",
    ("shape", 1, "porter"): "75d1c246fc268cf7",
    ("class_words", 1, "porter"): "88984b752169fac6",
}


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_a_family_computes_what_its_version_says(profile: Profile) -> None:
    page = Page.of(PAGE, profile.stem)

    for name in profile.families:
        family = FAMILIES[name]
        digest = blake2b(digest_size=8)
        for array in family.values(page, family.bits):
            digest.update(array.astype("<i4").tobytes())
        version = name, family.version, profile.stem.__name__
        assert digest.hexdigest() == PINNED.get(version), version


def test_the_memory_of_sites_knows_blocks_by_the_keys_that_its_version_says() -> None:
    keys = BlockKeys.of(Page.of(PAGE))

    digest = blake2b(keys.texts.tobytes() + keys.containers.tobytes(), digest_size=8)

    assert (KEYS_VERSION, digest.hexdigest()) == (1, "52258450c9ba0f9e")


def test_lessons_tell_places_and_traits_as_their_version_says() -> None:
    page = Page.of(PAGE)
    probability = np.linspace(0.9, 0.1, len(page.blocks))

    digest = blake2b(places(page, probability).astype("<i8").tobytes(), digest_size=8)
    digest.update(bytes([script_of(page, probability > LIKELY)]))
    digest.update(traits(page, probability > LIKELY).astype("<u8").tobytes())

    assert (VERSION, digest.hexdigest()) == (3, "4c35230753671cad")
