"""The options of a crawl from its settings; an invalid one stops the crawl at startup."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy_mss import settings
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
    if options.languages and detector() is None:
        logger.warning("scrapy-mss: %s", WITHOUT_DETECTOR)
    return options
