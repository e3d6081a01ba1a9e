"""What a page declares of itself in its source: its types, by schema.org and by OpenGraph.

Pages of today do, for search engines. Those that declare nothing are old ones, above all, and must
not be lost for that. Those that declare something without being an article in JSON-LD are of other
writing more often: guides, blogs, services. An `og:type` of `article` is on all of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scrapy_mss.blocks.lazy import lazy
from scrapy_mss.markup import linked_data
from scrapy_mss.markup.attributes import TYPE_CUES, declared_types
from scrapy_mss.markup.occurrences import occurrences

ARTICLE_TYPES: Final = ("article", "blogposting", "report")  # endings: NewsArticle …
SHOP_TYPES: Final = frozenset(
    {"Product", "Offer", "product", "SoftwareApplication", "LocalBusiness"}
)
FORUM_TYPES: Final = frozenset(
    {"DiscussionForumPosting", "QAPage", "Question", "Comment", "Answer"}
)

AUTHOR_CUES: Final = ('"author"', "'author'", "byline", "article:author")
PRICE_CUES: Final = ('"price"', "add-to-cart", "add_to_cart", "addtocart")
FORUM_CUES: Final = ("forum", "thread", "reply")
ALL_CUES: Final = (*TYPE_CUES, linked_data.CUE, *AUTHOR_CUES, *PRICE_CUES, *FORUM_CUES)


@dataclass(frozen=True, eq=False)
class Declarations:
    """The declarations in the *source* of a page; each is looked for once, when first asked for."""

    source: str

    @lazy
    def places(self) -> dict[str, list[int]]:
        """Where in the source each of ``ALL_CUES`` occurs."""
        return dict(zip(ALL_CUES, occurrences(self.source, ALL_CUES), strict=True))

    @lazy
    def types(self) -> set[str]:
        """The types of all that the page mentions, by schema.org and OpenGraph."""
        return declared_types(self.source, self.places)

    @lazy
    def graph_types(self) -> set[str]:
        """The types that it gives itself by OpenGraph."""
        places = {cue: self.places[cue] if cue == "og:type" else [] for cue in TYPE_CUES}
        return declared_types(self.source, places)

    @lazy
    def own_types(self) -> set[str]:
        """The types of what describes the page itself, by schema.org."""
        return linked_data.page_types(self.source, self.places[linked_data.CUE])

    @lazy
    def has_article_type(self) -> bool:
        return any(kind.lower().endswith(ARTICLE_TYPES) for kind in self.own_types)

    @lazy
    def are_of_no_article(self) -> bool:
        """Whether the page tells what it is, and in JSON-LD it is no article."""
        told = self.own_types or self.graph_types or self.mention(SHOP_TYPES | FORUM_TYPES)
        return bool(told) and not self.has_article_type

    def mention(self, types: frozenset[str]) -> bool:
        return not self.types.isdisjoint(types)
