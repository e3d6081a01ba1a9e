"""The state of the workbench: the pages of each site, read when it is opened, and the rules folder.

The readings of a few sites are cached; the least recently used ones are read again on
request. Requests are processed one at a time, in a thread, so nothing here is shared.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from scrapy_mss.extractor import Explanation, Extractor
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import ModelStore
from scrapy_mss.quality.store import DayStore
from scrapy_mss.quality.unsure import UnsureStore
from scrapy_mss.suggest.readings import SitePage, read_pages
from scrapy_mss.workbench.drawing import drawn_for_frame
from scrapy_mss.workbench.pages import Pages
from scrapy_mss.workbench.saving import SaveError
from scrapy_mss.wrappers import Registry, Wrapper
from scrapy_mss.wrappers.reading import example_on, learn

MOST_READ: Final = 3  # sites whose trees are in memory: some 100 MB each
MOST_EXPLAINED: Final = 16  # pages


@dataclass(slots=True)
class ReadSite:
    """The pages of a site, as stored and as read."""

    stored: Sequence[StoredPage]
    pages: Sequence[SitePage]
    explained: OrderedDict[int, Explanation] = field(default_factory=OrderedDict)


@dataclass(slots=True)
class Bench:
    """The *pages*, the *extractor* that reads them, the *folder* of rules and other files."""

    pages: Pages
    extractor: Extractor
    folder: Path
    model: ModelStore | None = None  # that of the project's crawls; None if there is none to teach
    quality: DayStore | None = None
    unsure: UnsureStore | None = None
    frame: str = ""  # where pages are drawn, once it is served
    _read: OrderedDict[str, ReadSite] = field(default_factory=OrderedDict)

    def site(self, name: str) -> ReadSite:
        """The pages of the site *name*; a KeyError if it has none."""
        if name not in self._read:
            stored = self.pages.by_site[name]
            self._read[name] = ReadSite(stored, read_pages(stored, self.extractor))
            while len(self._read) > MOST_READ:
                self._read.popitem(last=False)
        self._read.move_to_end(name)
        return self._read[name]

    def explained(self, name: str, number: int) -> Explanation:
        """Why page *number* of a site is read as it is."""
        site = self.site(name)
        if number not in site.explained:
            page = site.stored[number]
            site.explained[number] = self.extractor.explain(page.html, page.url)
            while len(site.explained) > MOST_EXPLAINED:
                site.explained.popitem(last=False)
        site.explained.move_to_end(number)
        return site.explained[number]

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
            self.model.close()
        return {"learned": learned.bayes.pages, "rejected": rejected, "model": self.model.name}
