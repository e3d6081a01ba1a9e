"""CSS -> XPath, with siblings that cost no more than a walk along them, and nesting little more.

As it is usual, `a + b` looks at all that follows each `a`, and `a ~ b` collects it: a page of 1 MB,
with twenty thousand siblings, takes minutes. Here `b` looks one step back; or the search goes on
from the first `a` in each element, since what follows any other one follows that, too:

    a + b    b[preceding-sibling::*[1]/self::a]
    a ~ b    */a[1]/following-sibling::b

What is inside an `a` is also usually collected with all that is around it there, and from each of
many in one another. The outermost are enough:

    a b      a[not(ancestor::a)]/descendant::b

Whether an element is an `a` depends on itself, on elements before it and on those around it, and
siblings have these in common: what is before `a` in a selector holds for `b` as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from parsel.csstranslator import HTMLTranslator

if TYPE_CHECKING:
    from cssselect.parser import Relation
    from cssselect.xpath import XPathExpr

DESCENDANT: Final = "descendant::"
FOLLOWING: Final = "following-sibling::"
_INSIDE: Final = {" ": DESCENDANT, ">": "", "+": f"{FOLLOWING}*[1]/self::", "~": FOLLOWING}
_OF_SCOPE: Final = "1"  # the condition of `:scope`, which is of no other element


class Translator(HTMLTranslator):
    """Translates the CSS of Scrapy's selectors."""

    def xpath_descendant_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        """What *right* selects inside of what *left* does."""
        if str(right) == "*":  # parsel makes of `a *::text` what is in the `a` itself, too
            return super().xpath_descendant_combinator(left, right)
        if not left.path and left.condition != _OF_SCOPE:
            left.add_condition(f"not(ancestor::{_step(left)})")
        return left.join(f"/{DESCENDANT}", right)

    def xpath_direct_adjacent_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        """What *right* selects right after what *left* does."""
        if left.condition == _OF_SCOPE:
            return super().xpath_direct_adjacent_combinator(left, right)
        condition = f"preceding-sibling::*[1]/self::{_step(left)}"
        if left.path.endswith(FOLLOWING):  # these, and so not the first itself
            left.path += f"*[1]/{FOLLOWING}"
        left.element, left.condition = right.element, right.condition
        return left.add_condition(condition)

    def xpath_indirect_adjacent_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        """What *right* selects anywhere after what *left* does, in the same element."""
        if left.condition == _OF_SCOPE:
            return super().xpath_indirect_adjacent_combinator(left, right)
        if left.path.endswith(DESCENDANT):  # the first of each element, and not of all
            left.path += f"{_step(left)}/../"
        left.path = f"{left.path or '*/'}{_step(left)}[1]/{FOLLOWING}"
        left.element, left.condition = right.element, right.condition
        return left

    def xpath_relation(self, relation: Relation) -> XPathExpr:
        """What has something inside or behind it: all of that is said of the element itself."""
        selected = self.xpath(relation.selector)
        inside = str(self.xpath(relation.subselector.parsed_tree))
        axis = _INSIDE[str(relation.combinator.value)]
        selected.element = f"{_step(selected)}[{axis}{inside}[1]]"
        selected.condition = ""
        return selected


def _step(selected: XPathExpr) -> str:
    """What *selected* says of the element that it selects, without those around it."""
    return f"{selected.element}[{selected.condition}]" if selected.condition else selected.element
