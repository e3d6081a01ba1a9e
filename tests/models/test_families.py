"""What each family computes of a page, pinned: stored counts are of these values.

Where a digest differs, stored counts no longer have the meaning of what is computed: raise the
family's ``version`` (models/families.py), train the bundled model again, and add a row here.
"""

from __future__ import annotations

from hashlib import blake2b

import pytest

from scrapy_mss.blocks.families import FAMILIES
from scrapy_mss.blocks.page import Page
from scrapy_mss.models.profiles import PROFILES, Profile
from scrapy_mss.sites.memory import KEYS_VERSION, BlockKeys

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
    ("unigram", 1, "stemWord"): "8fde732795b91c60",
    ("shape", 1, "stemWord"): "75d1c246fc268cf7",
    ("class_words", 1, "stemWord"): "88984b752169fac6",
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
