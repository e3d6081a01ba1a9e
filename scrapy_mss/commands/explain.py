"""Write an HTML page that shows how the model reads a page.

It has each block with its probability and the reasons for and against it, why the page is of its
kind, the text, Markdown, and the source of each field. It loads nothing and runs no scripts, so you
can attach it to a bug report.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from scrapy_mss import settings
from scrapy_mss.article import labelled_metadata, page_metadata
from scrapy_mss.blocks.page import Page
from scrapy_mss.commands import GOOD, CommandError, MssCommand, print_line
from scrapy_mss.commands.base import (
    add_model_arguments,
    chosen_extractor,
    is_address,
    known_site,
    page_in,
    writing,
)
from scrapy_mss.commands.fetching import checked_address, fetched
from scrapy_mss.extractor import Extraction
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.metadata import Metadata
from scrapy_mss.sites.context import SiteContext
from scrapy_mss.storage.tables import minute_now
from scrapy_mss.workbench.drawing import why_page
from scrapy_mss.wrappers import Wrapper, label, load_wrappers
from scrapy_mss.wrappers.reading import explained

OUTPUT = "why.html"

EXAMPLE = "scrapy mss explain https://example.com/news/story.html -o why.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("page", metavar="URL|FILE", help="a URL or an HTML file")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path(OUTPUT),
        help=f"the file to write; default: {OUTPUT}",
    )
    parser.add_argument("-u", "--url", default="", help="the address of FILE")
    parser.add_argument(
        "-w",
        "--wrappers",
        action="append",
        metavar="RULES",
        help="wrappers; the one for the page marks the blocks that it excludes; default: "
        "MSS_WRAPPERS",
    )
    add_model_arguments(parser)


def perform(options: argparse.Namespace, command: MssCommand) -> int:
    extractor = chosen_extractor(options, command)
    if options.wrappers and not options.url and not is_address(options.page):
        raise CommandError("the rule is chosen by the page's URL: give it with -u")
    if is_address(options.page):
        (source,) = fetched([checked_address(options.page)], command)
    else:
        source = StoredPage(options.url, page_in(Path(options.page)))
    page = Page.of(source.html, extractor.profile.stem, source.url)
    alone = extractor.explain_page(page, _site(options, command, source.url))
    rules = load_wrappers(options.wrappers or settings.read(command.settings).wrappers)
    rule = rules.find(source.url)
    explanation = explained(alone, rule) if rule else alone
    found = explanation.extraction
    fields = _fields(found, rule if explanation is not alone else None)
    page_of_it = why_page(explanation, fields.values, fields.sources)
    with writing(options.output):
        options.output.write_text(page_of_it, "utf-8", "xmlcharrefreplace")
    print_line(f"{options.output}: {_verdict(found)}")
    print_line(f"kind {explanation.verdict.kind}: {explanation.verdict.reason}")
    if rule or options.wrappers:
        print_line(_of_rule(rule, matches=explanation is not alone))
    return GOOD


def _site(options: argparse.Namespace, command: MssCommand, url: str) -> SiteContext | None:
    memory = known_site(options, command, url)
    return SiteContext(memory, minute_now(), url) if memory else None


def _fields(found: Extraction, rule: Wrapper | None) -> Metadata:
    """The fields of the page that was *found*, with what the *rule* selects if it matches."""
    if rule is not None:
        labelling = label(rule, found.tokens)
        labelling = replace(labelling, inside=found.kept, text=found.text)
        return labelled_metadata(labelling, found.url)
    return page_metadata(found.parsed, found.kept, found.text)


def _verdict(found: Extraction) -> str:
    verdict = "an article" if found.is_article else "no article"
    return f"{verdict}, probability {found.probability:.3f}, {len(found.text)} characters"


def _of_rule(rule: Wrapper | None, *, matches: bool) -> str:
    """What became of the rules that were given, or of that of the page."""
    if rule is None:
        return "none of the rules is for this address"
    return f"by the rule {rule.id}" if matches else f"the rule {rule.id} does not match the page"
