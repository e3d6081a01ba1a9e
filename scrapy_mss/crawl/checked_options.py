"""The options of a crawl from its settings; an invalid one stops the crawl at startup."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_mss import settings
from scrapy_mss.files.stored_pages import Source, SourceError
from scrapy_mss.metadata.languages import detector

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

WITHOUT_DETECTOR = (
    "MSS_LANGUAGES goes by what pages declare, and those that are silent pass; with "
    "pip install 'scrapy-mss[language]' the language is told from the text"
)


def checked_options(given: BaseSettings) -> settings.Options:
    """The options that the *given* settings hold; what is doubtful in them is logged."""
    options = settings.read(given)
    _check_replay(options)
    if options.languages and detector() is None:
        logger.warning("scrapy-mss: %s", WITHOUT_DETECTOR)
    return options


def _check_replay(options: settings.Options) -> None:
    """Stop at sources that `ReplayHandler` could not read.

    Scrapy takes an error of a download handler for that of each of its requests, and goes on.
    """
    for path in options.replay:
        try:
            Source(Path(str(path))).check()
        except SourceError as error:
            raise settings.SettingError(f"MSS_REPLAY: {error}") from error
