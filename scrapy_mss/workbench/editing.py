"""A click on a block of a page -> another rule.

    exclude   an element around the block is excluded: the largest without a word that the model
              keeps, so that one click takes a whole box
    include   what excludes the block is removed from `exclude`; if the model does, which decides
              what is text at a place, the place becomes the `body`; if the block is outside, the
              body becomes a range of two places, from the first to the last
    a field   is selected by the innermost element around the text

The element is on the path from the block up to the body of the page, and the user can move up and
down on it: the same click with another *level*. Of the element's selectors, the one is used that
has the wanted effect on this page and loses least of what the model keeps on the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

import numpy as np

from scrapy_mss.blocks.explanation import ExplainedBlock
from scrapy_mss.markup.tags import BLOCK_TAGS
from scrapy_mss.markup.tokens import Bools
from scrapy_mss.suggest.readings import SitePage
from scrapy_mss.suggest.selectors import elements_of, selectors_for
from scrapy_mss.workbench.drawing import text_runs
from scrapy_mss.wrappers import Selector, Wrapper, WrapperError, css, xpath
from scrapy_mss.wrappers.dom_alignment import AlignedTree
from scrapy_mss.wrappers.labeller import label_tree
from scrapy_mss.wrappers.selectors import Element

BODY: Final = "body"
FIELDS: Final = ("title", "authors", "published")
ROLES: Final = (BODY, *FIELDS)
MAX_TRIED: Final = 12  # selectors of an element
MAX_OTHERS: Final = 12  # pages on which a selector's cost is counted
LEADING_WORDS: Final = 4  # of a paragraph without a name, which may begin so on other pages, too
MAX_LEADING: Final = 200  # characters of these words: a page may have any without a space
NOW_BODY: Final = "the model drops this: now all of the place is the body"
OPEN_TAGS: Final = ("html", "body")


class EditError(ValueError):
    """No rule does what was clicked; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Edit:
    """The *rule* after a click; *path* from the block's element outwards, *level* the one used.

    *words* are the first word of the element that was used and the one after its last, and *effect*
    says what has changed.
    """

    rule: Wrapper
    path: tuple[str, ...]
    level: int
    words: tuple[int, int]
    effect: str


@dataclass(frozen=True, slots=True)
class Click:
    """A block of a page that was clicked, as what, and which element around it is meant.

    *run* counts the runs of its text from tag to tag: a byline has the author in one of them. A
    *level* of None leaves the choice of the element to us.
    """

    block: ExplainedBlock
    role: str = BODY
    level: int | None = None
    run: int = 0


def edited(rule: Wrapper, pages: Sequence[SitePage], page: SitePage, click: Click) -> Edit:
    """*rule* after a *click* on one of *pages*; an `EditError` if no rule has that effect."""
    if not isinstance(page.aligned, AlignedTree):
        raise EditError(f"no rule can be made on this page: {page.left_out}")
    words = _words_of(page, click)
    if words[0] == words[1]:
        raise EditError("this block has no word by which it could be found")
    editor = _Editor(rule, pages, page, words)
    if click.role != BODY:
        return editor.field(click)
    return editor.exclude(click) if editor.is_inside(rule) else editor.include(click)


def _words_of(page: SitePage, click: Click) -> tuple[int, int]:
    """The first word of the block, or for a field of the run, and the one after its last."""
    before, tokens = page.before, page.extraction.tokens
    if click.role == BODY:
        return int(before[click.block.first]), int(before[click.block.last + 1])
    runs = [(start, end) for _, start, end in text_runs(tokens, [click.block])]
    start, end = runs[min(click.run, len(runs) - 1)] if runs else (0, 0)
    first, after = np.searchsorted(tokens.start, (start, end)).tolist()
    return int(before[first]), int(before[after])


class _Editor:
    """A rule, and a place on one of the pages."""

    def __init__(
        self, rule: Wrapper, pages: Sequence[SitePage], page: SitePage, words: tuple[int, int]
    ) -> None:
        self.rule, self.page, self.words = rule, page, words
        others = (each for each in pages if each is not page and not each.left_out)
        self.others = list(islice(others, MAX_OTHERS))
        self.roots = [page.root, *(each.root for each in self.others)]

    def is_inside(self, rule: Wrapper) -> bool:
        """Whether the block is in what *rule* takes for the article."""
        inside = self._by_rule(rule)[slice(*self.words)]
        return bool(2 * np.count_nonzero(inside) >= len(inside))

    def exclude(self, click: Click) -> Edit:
        """The rule without an element around the block."""
        path = self._path(BLOCK_TAGS)
        level = self._greatest_without(path) if click.level is None else click.level
        level = min(level, len(path) - 1)
        for selector in self._by_cost(path[level]):
            rule = self._with(exclude=(*self.rule.exclude, selector))
            if rule and self._by_rule(rule).any() and not self.is_inside(rule):
                return self._edit(rule, path, level, f"excluded: {selector.text}")
        raise EditError("no selector excludes only this block; try its parent with the arrow up")

    def include(self, click: Click) -> Edit:
        path = self._path(BLOCK_TAGS)
        free = tuple(each for each in self.rule.exclude if not self._covers(each))
        level = min(click.level or 0, len(path) - 1)
        if free != self.rule.exclude and (rule := self._including(exclude=free)):
            return self._edit(rule, path, level, "no longer excluded")
        if click.level is None and not self._by_rule(self.rule).any():
            level = self._around_all(path)  # without any body on this page
        as_body = {"body": self.rule.place, "around": ()}
        if self.rule.around and (rule := self._including(exclude=free, **as_body)):
            return self._edit(rule, path, level, NOW_BODY)
        for selector in self._selectors(path[level]):
            bodies = self._bodies(selector)
            for fields in ({self.rule.place_role: bodies}, {"body": bodies, "around": ()}):
                rule = self._including(exclude=free, **fields)
                if rule:
                    return self._edit(rule, path, level, f"in the body: {selector.text}")
        raise EditError("no selector includes this block; try its parent with the arrow up")

    def field(self, click: Click) -> Edit:
        """The rule with one of its fields where the block is."""
        path = self._path(None)
        level = min(click.level or 0, len(path) - 1)
        element = path[level]
        for selector in self._selectors(element):
            text = selector.text
            is_time = click.role == "published" and element.get("datetime")
            found = css(f"{text}::attr(datetime)") if is_time else selector
            rule = self._with(**{click.role: (found,)})
            if rule:
                return self._edit(rule, path, level, f"{click.role}: {found.text}")
        raise EditError("no selector finds this place again; try its parent with the arrow up")

    def _edit(self, rule: Wrapper, path: Sequence[Element], level: int, effect: str) -> Edit:
        names = tuple(map(_name, path))
        return Edit(rule, names, level, self.page.elements[path[level]], effect)

    def _path(self, tags: frozenset[str] | None) -> list[Element]:
        """The elements around the block's first word, innermost first; only of *tags*, if given."""
        first = self.words[0]
        around = [
            element
            for element, (start, end) in self.page.elements.items()
            if start <= first < end and element.tag not in OPEN_TAGS
        ]
        found = [each for each in reversed(around) if tags is None or each.tag in tags]
        if not found:
            raise EditError("this text is in no element but the page's body")
        return found

    def _greatest_without(self, path: Sequence[Element]) -> int:
        """The level of the greatest element with nothing of what the model keeps but the block."""
        target = self.page.target.copy()
        target[slice(*self.words)] = False
        by_rule = self._by_rule(self.rule)
        wanted = target & by_rule
        level = 0
        for number, element in enumerate(path):
            start, end = self.page.elements[element]
            rest = by_rule.copy()
            rest[start:end] = False
            if wanted[start:end].any() or not rest.any():
                break
            level = number
        return level

    def _around_all(self, path: Sequence[Element]) -> int:
        """The level of the smallest element around all that the model keeps, if anything."""
        at = np.flatnonzero(self.page.target)
        if not len(at):
            return 0
        for number, element in enumerate(path):
            start, end = self.page.elements[element]
            if start <= at[0] and at[-1] < end:
                return number
        return len(path) - 1

    def _bodies(self, selector: Selector) -> tuple[Selector, ...]:
        """The alternatives of the body, the one that holds here joined with *selector*."""
        found = label_tree(self.rule, self.page.tree)
        hit = {text for role, text in found.hits if role == self.rule.place_role}
        joined: list[Selector] = []
        for body in self.rule.place:
            if body.kind == "css" and body.text in hit:
                hit.clear()
                joined.append(css(f"{body.text}, {selector.text}"))
            else:
                joined.append(body)
        return tuple(joined) if tuple(joined) != self.rule.place else (*joined, selector)

    def _covers(self, selector: Selector) -> bool:
        """Whether *selector* selects something around the block."""
        elements = elements_of(selector, self.page.root)
        spans = (self.page.elements.get(each, (0, 0)) for each in elements)
        return any(start < self.words[1] and self.words[0] < end for start, end in spans)

    def _selectors(self, element: Element) -> Iterator[Selector]:
        for text in islice(selectors_for(element, self.roots), MAX_TRIED):
            yield css(text)
        begins = " ".join((element.xpath("string()") or "").split()[:LEADING_WORDS])
        is_plain = len(begins) <= MAX_LEADING and begins.isprintable() and '"' not in begins
        if begins and is_plain and isinstance(element.tag, str) and element.tag.isalnum():
            yield xpath(f'//{element.tag}[starts-with(normalize-space(), "{begins}")]')

    def _by_cost(self, element: Element) -> list[Selector]:
        """Selectors of *element*, those first that select least of what the model keeps."""
        start, end = self.page.elements[element]

        def cost(selector: Selector) -> int:
            lost = 0
            for page in (self.page, *self.others):
                mask = np.zeros_like(page.target)
                for each in elements_of(selector, page.root):
                    mask[slice(*page.elements.get(each, (0, 0)))] = True
                if page is self.page:
                    mask[start:end] = False
                lost += int(np.count_nonzero(mask & page.target))
            return lost

        return sorted(self._selectors(element), key=cost)

    def _by_rule(self, rule: Wrapper) -> Bools:
        """bool[n_words]: the article of the page by *rule*."""
        found = self.page.by_rule(rule)
        assert found is not None  # the page has a tree
        inside: Bools = found.inside[found.tokens.is_word]
        return inside

    def _including(self, **fields: object) -> Wrapper | None:
        """The rule with other *fields*; None if it is invalid or the block is still outside."""
        rule = self._with(**fields)
        return rule if rule and self.is_inside(rule) else None

    def _with(self, **fields: object) -> Wrapper | None:
        """The rule with other *fields*; None if it would be invalid."""
        try:
            return replace(self.rule, **fields)  # type: ignore[arg-type]
        except WrapperError:
            return None


def _name(element: Element) -> str:
    name = str(element.tag)
    if element.get("id"):
        return f"{name}#{element.get('id')}"[:60]
    words = (element.get("class") or "").split()
    return f"{name}.{words[0]}"[:60] if words else name
