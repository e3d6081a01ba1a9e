"""The labelled sets that the bundled model is made from, which are those that it is measured on.

Their licences allow it, and `NOTICE` names them. `research.bench loso` leaves out each of them in
turn.
"""

from __future__ import annotations

from typing import Final

ARTICLES: Final = (
    *("articles_wcxb", "articles_fundus", "articles_rules", "articles_tools", "articles_manual"),
    "articles_world",
)
OTHERS: Final = "other_pages_wcxb"  # pages of other types: what the decision learns to tell apart
# The types whose text is learned, too. Of a forum it is what is no text elsewhere, comments; of
# products and lists it is short, and what of the page belongs to it is a matter of taste.
TAUGHT_TYPES: Final = frozenset({"documentation", "service", "collection"})
