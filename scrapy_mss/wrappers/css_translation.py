"""CSS -> XPath, with siblings that cost no more than a walk to the nearest one that counts.

As it is usual, `a + b` looks at all that follows each `a`, and `a ~ b` collects it: a page of 1 MB,
with twenty thousand siblings, takes minutes. Here an element looks backwards, and the search ends
at the first hit:

    a + b    a/../b[preceding-sibling::*[1]/self::a]
    a ~ b    a/../b[preceding-sibling::a[1]]

Whether an element is an `a` depends on itself, on elements before it and on those around it, and
siblings have these in common: so what is before `a` in a selector need not be looked at again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from parsel.csstranslator import HTMLTranslator

if TYPE_CHECKING:
    from cssselect.xpath import XPathExpr


class Translator(HTMLTranslator):
    """Translates the CSS of Scrapy's selectors."""

    def xpath_direct_adjacent_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        """What *right* selects right after what *left* does."""
        if _is_around(left):
            return super().xpath_direct_adjacent_combinator(left, right)
        return _beside(left, right, f"preceding-sibling::*[1]/self::{_itself(left)}")

    def xpath_indirect_adjacent_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        """What *right* selects anywhere after what *left* does, in the same element."""
        if _is_around(left):
            return super().xpath_indirect_adjacent_combinator(left, right)
        return _beside(left, right, f"preceding-sibling::{_itself(left)}[1]")


def _is_around(selected: XPathExpr) -> bool:
    """Whether *selected* ends with what is inside its element, as `:has` does."""
    return selected.element.endswith("]")


def _itself(selected: XPathExpr) -> str:
    """What *selected* says of the element that it selects, without those around it."""
    return f"{selected.element}[{selected.condition}]" if selected.condition else selected.element


def _beside(left: XPathExpr, right: XPathExpr, condition: str) -> XPathExpr:
    return left.join("/../", right).add_condition(condition)
