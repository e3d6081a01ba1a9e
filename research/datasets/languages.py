"""The language of a text by the text itself: what a page declares is often wrong or missing.

Scripts that one language alone writes tell it; for the others resiliparse's detector does, which
knows no Chinese, Japanese or Korean.
"""

from __future__ import annotations

import re
from typing import Final

UNKNOWN: Final = "unknown"
SHARE: Final = 0.2  # of the characters: names in another script do not make its language
_SCRIPTS: Final = (  # in this order: Japanese is written in kana and Chinese characters
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
)


def language_of(text: str) -> str:
    """The language of *text* as a two-letter code, or `UNKNOWN`."""
    from resiliparse.parse.lang import detect_fast  # a peer of the bench, needed here alone

    for language, script in _SCRIPTS:
        if len(script.findall(text)) > SHARE * len(text):
            return language
    language, _ = detect_fast(text)
    return str(language)
