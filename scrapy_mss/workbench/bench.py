"""The state of the workbench: the pages of each site, read when it is opened, and the rules folder.

The readings of a few sites are cached; the least recently used ones are read again on
request. Requests are processed one at a time, in a thread, so nothing here is shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from scrapy_mss.extractor import Explanation, Extractor
from scrapy_mss.models.files import KeptModel
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.quality.store import QualityStore
from scrapy_mss.quality.uncertain import UncertainStore
from scrapy_mss.suggest.readings import SitePage, read_pages
from scrapy_mss.workbench.drawing import drawn_for_frame
from scrapy_mss.workbench.pages import Pages
from scrapy_mss.workbench.saving import SaveError
from scrapy_mss.wrappers import Registry, Wrapper
from scrapy_mss.wrappers.reading import example_on, learn

MOST_READ: Final = 3  # sites whose trees are in memory: some 100 MB each
MOST_EXPLAINED: Final = 16  # pages


@dataclass
class WorkbenchState:
    """The *pages*, the *extractor* that reads them, the *folder* of rules and other files."""

    pages: Pages
    extractor: Extractor
    folder: Path
    model: KeptModel | None = None  # that of the project's crawls; None if there is none to teach
    quality: QualityStore | None = None
    unsure: UncertainStore | None = None
    frame: str = ""  # where pages are drawn, once it is served

    def __post_init__(self) -> None:
        self.site = lru_cache(MOST_READ)(self._site)
        self.explained = lru_cache(MOST_EXPLAINED)(self._explained)

    def _site(self, name: str) -> Sequence[SitePage]:
        """The pages of the site *name*, as read; a KeyError if it has none."""
        return read_pages(self.pages.by_site[name], self.extractor)

    def _explained(self, name: str, number: int) -> Explanation:
        """Why page *number* of a site is read as it is."""
        page = self.pages.by_site[name][number]
        return self.extractor.explain(page.html, page.url)

    def drawn(self, name: str, number: int) -> str:
        """Page *number* of a site for the frame."""
        return drawn_for_frame(self.explained(name, number))

    def teach(self, rule: Wrapper, name: str) -> dict[str, object]:
        """Let the model learn a site by *rule*: how many pages it did, and why not the others."""
        if self.model is None:
            raise SaveError("there is no model to teach: start without --bundled")
        if rule.around:
            raise SaveError(
                "the rule leaves the text to the model ('around'), which learns nothing from "
                "itself; where all that is there is text, write 'body'"
            )
        before, learned, rejected = self.model.load(), Model(DEFAULT), dict[str, int]()
        rules = Registry([rule])
        for page in self.pages.by_site[name]:
            reason = learn(example_on(page, rules), before, learned)
            if reason:
                rejected[reason] = rejected.get(reason, 0) + 1
        if learned.bayes.pages:
            self.model.add(learned)
        return {"learned": learned.bayes.pages, "rejected": rejected, "model": self.model.name}
