"""What crawls of the tests set `MSS_EXTRACTOR` to."""

from __future__ import annotations

import time

LONG = 100_000  # characters
ARTICLE = "\n\n".join(["It rained all day in the town. " * 5] * 2)
FOR_EVER = 60.0  # seconds, next to the time that a crawl of a test gives a page


class HangsOnLongPages:
    """Hangs on pages that are long, and has the same text for all others."""

    def extract(self, html: str) -> str:
        if len(html) > LONG:
            time.sleep(FOR_EVER)
        return ARTICLE
