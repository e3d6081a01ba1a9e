# ruff: noqa: RUF001 - phrases of other scripts
"""Which pages come again as changed: sites crawled six times, in the last two with other pages.

    python -m research.studies.revisions --data FOLDER --out research/results

The pages of `sites_ctf`, each era a site, and of `sites_daniel` are served by a local proxy. Both
`NewsSpider` and a spider that follows links crawl them with `MSS_ONLY_NEW`, and each crawl rechecks
all of them; the memory of sites goes on learning. Four crawls meet the same bytes: whatever comes
in the second to the fourth is false. The fifth meets other teasers, counters, times and
advertisements, which are no changes; the sixth the pages as they were at first, but each edited.
"""

from __future__ import annotations

import argparse
import html
import json
import multiprocessing
import os
import re
import threading
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np

from research import command_line
from research.datasets.pages import LabelledPage
from research.datasets.sets import load
from scrapy_mss.blocks.page import Page
from scrapy_mss.extractor import Extractor
from scrapy_mss.metadata import read_tokens
from scrapy_mss.models.files import write_atomically
from scrapy_mss.seen.paragraphs import HEADLINES

PROGRAM: Final = "python -m research.studies.revisions"
SETS: Final = ("sites_ctf", "sites_daniel")
SPIDERS: Final = ("NewsSpider", "own spider")
SAME: Final = 4  # crawls of the same bytes
NOISE, EDITS = SAME + 1, SAME + 2
MIN_LETTERS: Final = 40  # of a paragraph that is edited
MIN_WORDS: Final = 4  # of a link that may be a teaser
MAX_WORDS: Final = 8  # of a line whose numbers may be counters
LONG_WORD: Final = 2  # letters; shorter ones are edited by nobody
MIN_SENTENCE: Final = 15  # letters
FEW_LINKS, LINKS = 0.2, 0.5  # shares of the words
WORDS: Final = re.compile(r"\w+")
SENTENCE: Final = re.compile(r"[.!?;。！？；]\s*")


@dataclass(frozen=True, slots=True)
class Phrases:
    """What is inserted into pages of a language."""

    word: str
    sentence: str
    correction: str
    times: tuple[str, str]
    advertisements: tuple[str, str]


PHRASES: Final = {
    "en": Phrases(
        "remarkable",
        "The committee will meet again on Thursday to decide what happens next.",
        "Correction: an earlier version of this article misstated the year of the agreement.",
        ("3 hours ago", "1 day ago"),
        (
            "Save up to 40 percent on winter tyres this week only, while stocks last.",
            "Discover the new electric car: book a test drive at a dealer near you today.",
        ),
    ),
    "pl": Phrases(
        "niezwykły",
        "Komisja spotka się ponownie w czwartek, aby zdecydować o dalszych krokach.",
        "Sprostowanie: we wcześniejszej wersji artykułu podano błędny rok zawarcia umowy.",
        ("3 godziny temu", "1 dzień temu"),
        (
            "Tylko w tym tygodniu opony zimowe nawet o 40 procent taniej w naszym sklepie.",
            "Poznaj nowy samochód elektryczny i umów się na jazdę próbną już dziś.",
        ),
    ),
    "ru": Phrases(
        "удивительный",
        "Комиссия соберётся снова в четверг, чтобы решить, что делать дальше.",
        "Исправление: в предыдущей версии статьи был неверно указан год соглашения.",
        ("3 часа назад", "1 день назад"),
        (
            "Только на этой неделе зимние шины со скидкой до 40 процентов в нашем магазине.",
            "Познакомьтесь с новым электромобилем и запишитесь на тест-драйв уже сегодня.",
        ),
    ),
    "el": Phrases(
        "αξιοσημείωτο",
        "Η επιτροπή θα συνεδριάσει ξανά την Πέμπτη για να αποφασίσει τα επόμενα βήματα.",
        "Διόρθωση: σε προηγούμενη έκδοση του άρθρου αναφέρθηκε λάθος το έτος της συμφωνίας.",
        ("πριν από 3 ώρες", "πριν από 1 ημέρα"),
        (
            "Μόνο αυτή την εβδομάδα χειμερινά ελαστικά με έκπτωση έως 40 τοις εκατό.",
            "Γνωρίστε το νέο ηλεκτρικό αυτοκίνητο και κλείστε δοκιμαστική οδήγηση σήμερα.",
        ),
    ),
    "zh": Phrases(
        "值得注意",
        "委员会将于星期四再次开会，决定下一步的行动。",
        "更正：本文早前版本误写了协议签署的年份，特此说明。",
        ("3小时前", "1天前"),
        (
            "本周冬季轮胎最高优惠百分之四十，售完为止，欢迎光临。",
            "全新电动汽车上市，请立即到附近经销商处预约试驾。",
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class Draft:
    """A page that can be changed: its blocks in the source, and which of them the article has."""

    source: str
    page: Page
    phrases: Phrases
    title: str
    paragraphs: list[int]  # of the article, long and with few links
    outside: list[int]

    @classmethod
    def of(cls, labelled: LabelledPage, extractor: Extractor) -> Draft | None:
        """The page as the bundled model reads it; None without an article."""
        extraction = extractor.extract(labelled.html)
        if not extraction.is_article:
            return None
        page, gold = extraction.page, _grams(labelled.golds[-1])
        kept = page.blocks.count(extraction.kept & page.tokens.is_word) * 2 > page.blocks.words
        share = page.blocks.linked_words / np.maximum(page.blocks.words, 1)
        is_headline = np.isin(page.ancestor_tags[0], HEADLINES)
        draft = cls(
            page.tokens.source,
            page,
            PHRASES.get((labelled.lang or "en")[:2], PHRASES["en"]),
            read_tokens(page.tokens).values.get("title") or "",
            [],
            [],
        )
        for block in range(len(page.blocks)):
            text = draft.text(block)
            letters = sum(map(len, WORDS.findall(text)))
            if kept[block] and share[block] < FEW_LINKS and letters >= MIN_LETTERS:
                draft.paragraphs.append(block)
            elif not kept[block] and not is_headline[block] and not (_grams(text) & gold):
                draft.outside.append(block)
        return draft if draft.paragraphs else None

    def span(self, block: int) -> tuple[int, int]:
        """Where a block begins and ends in the source."""
        blocks, tokens = self.page.blocks, self.page.tokens
        return int(tokens.start[blocks.first[block]]), int(tokens.end[blocks.last[block]])

    def text(self, block: int) -> str:
        """A block without its tags."""
        start, end = self.span(block)
        return html.unescape(re.sub(r"<[^>]*>", " ", self.source[start:end]))

    def around(self, block: int) -> tuple[int, int]:
        """Where the paragraph of a block begins and ends, with its tags."""
        tokens, parent = self.page.tokens, int(self.page.blocks.ancestors[0][block])
        if parent >= 0 and self.source[int(tokens.start[parent]) :][:2].lower() == "<p":
            partner = int(tokens.partner[parent])
            if partner > parent:
                return int(tokens.start[parent]), int(tokens.end[partner])
        return self.span(block)

    def beside(self) -> list[int]:
        """The paragraphs that are elements of their own, or lines of an element with several."""
        parents = self.page.blocks.ancestors[0]
        lines = Counter(int(parents[each]) for each in self.paragraphs)
        found = [
            each
            for each in self.paragraphs
            if self.around(each) != self.span(each) or lines[int(parents[each])] > 1
        ]
        return found or self.paragraphs

    def links(self) -> list[int]:
        """The blocks outside of the article that are links of four words and more."""
        blocks = self.page.blocks
        return [
            each
            for each in self.outside
            if blocks.words[each] >= MIN_WORDS
            and blocks.linked_words[each] >= LINKS * blocks.words[each]
        ]

    def edited(self, *edits: tuple[int, int, str]) -> str:
        """The source with each place replaced."""
        source = self.source
        for start, end, text in sorted(edits, reverse=True):
            source = source[:start] + text + source[end:]
        return source


def _grams(text: str) -> set[tuple[str, ...]]:
    words = WORDS.findall(text.lower())
    return set(zip(words, words[1:], words[2:], strict=False)) or {tuple(words)}


# What is no change. Each is given the titles of other pages of the site.


def teasers(draft: Draft, others: Sequence[str], chance: Random) -> str:
    """Other links in every list."""
    link = '<a href="/x">{}</a>'
    edits = [(*draft.span(each), link.format(chance.choice(others))) for each in draft.links()]
    return draft.edited(*edits)


def counters(draft: Draft, _: Sequence[str], chance: Random) -> str:
    """Other numbers in short lines outside of the article."""
    edits = []
    for block in draft.outside:
        start, end = draft.span(block)
        line = draft.source[start:end]
        if draft.page.blocks.words[block] <= MAX_WORDS and "<" not in line:
            counted = re.sub(
                r"(?<![\w#&])\d{1,6}(?!\w)", lambda _: str(chance.randint(1, 999)), line
            )
            edits.append((start, end, counted))
    return draft.edited(*edits)


def times(draft: Draft, _: Sequence[str], chance: Random) -> str:
    """How long ago it was, above the text."""
    at, _end = draft.around(draft.paragraphs[0])
    return draft.edited((at, at, f"<div class=time>{chance.choice(draft.phrases.times)}</div>"))


def advertisements(draft: Draft, _: Sequence[str], chance: Random) -> str:
    """An advertisement between two paragraphs."""
    at, _end = draft.around(draft.paragraphs[len(draft.paragraphs) // 2])
    text = chance.choice(draft.phrases.advertisements)
    return draft.edited(
        (at, at, f'<div class="advert"><a href="http://x.example/">{text}</a></div>')
    )


# What is one.


def edited_sentence(draft: Draft, _: Sequence[str], chance: Random) -> str:
    """Another word."""
    block, tokens = chance.choice(draft.paragraphs), draft.page.tokens
    inner = range(int(draft.page.blocks.first[block]), int(draft.page.blocks.last[block]) + 1)
    words = [
        at for at in inner if tokens.is_word[at] and tokens.end[at] - tokens.start[at] > LONG_WORD
    ]
    if not words:
        return draft.source
    at = chance.choice(words)
    return draft.edited((int(tokens.start[at]), int(tokens.end[at]), draft.phrases.word))


def added_sentence(draft: Draft, _: Sequence[str], chance: Random) -> str:
    """A sentence at the end of a paragraph."""
    _start, end = draft.span(chance.choice(draft.paragraphs))
    return draft.edited((end, end, f" {draft.phrases.sentence}"))


def added_paragraph(draft: Draft, _: Sequence[str], chance: Random) -> str:
    """A paragraph after another one."""
    _start, end = draft.around(chance.choice(draft.beside()))
    return draft.edited((end, end, f"<p>{draft.phrases.sentence}</p>"))


def removed_sentence(draft: Draft, _: Sequence[str], chance: Random) -> str:
    """A sentence less, of a paragraph with several."""
    found = []
    for block in draft.paragraphs:
        start, end = draft.span(block)
        text = draft.source[start:end]
        ends = [match.end() for match in SENTENCE.finditer(text)]
        found += [
            (start + one, start + other)
            for one, other in zip([0, *ends], ends, strict=False)
            if other - one >= MIN_SENTENCE
            and not re.search(r"[<>&]", text[one:other])
            and text.count("<", 0, one) == text.count(">", 0, one)  # in no tag
        ]
    return draft.edited((*chance.choice(found), "")) if found else draft.source


def correction(draft: Draft, _: Sequence[str], __: Random) -> str:
    """A note below the text."""
    _start, end = draft.around(draft.beside()[-1])
    return draft.edited((end, end, f"<p>{draft.phrases.correction}</p>"))


def headline(draft: Draft, _: Sequence[str], __: Random) -> str:
    """Another word in the title, wherever it stands."""
    words = draft.title.split()
    if not words or draft.title not in draft.source:
        return draft.source
    return draft.source.replace(draft.title, " ".join([*words, draft.phrases.word]))


Change = Callable[[Draft, Sequence[str], Random], str]
NO_CHANGES: Final[tuple[Change, ...]] = (teasers, counters, times, advertisements)
CHANGES: Final[tuple[Change, ...]] = (
    edited_sentence,
    added_sentence,
    added_paragraph,
    removed_sentence,
    correction,
    headline,
)


@dataclass(slots=True)
class Web:
    """The pages by their addresses, as each crawl meets them, and what was done to each."""

    pages: dict[str, dict[int, str]] = field(default_factory=dict)
    kinds: dict[str, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    fronts: dict[str, str] = field(default_factory=dict)
    crawl: int = 1

    def answer(self, url: str) -> str | None:
        """The page at *url* in the crawl that is under way."""
        parts = urlsplit(url)
        if parts.path == "/":
            return self.fronts.get(parts.hostname or "")
        versions = self.pages.get(url)
        return None if versions is None else versions.get(self.crawl, versions[1])


def web_of(pages: Sequence[LabelledPage], chance: Random) -> Web:
    """The sites of *pages*, with what the last two crawls meet instead."""
    web, extractor = Web(), Extractor()
    sites: dict[str, list[LabelledPage]] = defaultdict(list)
    for page in pages:
        era = f"-{page.group}" if page.group else ""
        sites[f"{page.site.replace('.', '-')}{era}.example".lower()].append(page)
    for host, of_site in sites.items():
        urls = [
            f"http://{host}/2026/11/20/a-story-of-the-day-{n}.html" for n in range(len(of_site))
        ]
        others = [page.title or "Another story of the day" for page in of_site]
        links = (f'<p><a href="{url}">A story of the day</a></p>' for url in urls)
        web.fronts[host] = f"<title>{host}</title>{''.join(links)}"
        for number, (url, page) in enumerate(zip(urls, of_site, strict=True)):
            web.pages[url] = {1: page.html}
            draft = Draft.of(page, extractor)
            if draft is None:
                continue
            for crawl, kinds in ((NOISE, NO_CHANGES), (EDITS, CHANGES)):
                make = kinds[number % len(kinds)]
                version = make(draft, others, chance)
                if version != page.html:
                    web.pages[url][crawl] = version
                    web.kinds[url][crawl] = make.__name__
    return web


@contextmanager
def served(web: Web) -> Iterator[str]:
    """The address of a proxy that has all pages of *web*."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = web.answer(self.path)
            body = (text or "").encode("utf-8", "replace")
            self.send_response(200 if text is not None else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def crawl_once(spider: str, fronts: Sequence[str], settings: Mapping[str, Any], proxy: str) -> None:
    """One crawl, in a process of its own."""
    os.environ["http_proxy"] = proxy
    from scrapy import Request, Spider
    from scrapy.crawler import CrawlerProcess

    from scrapy_mss.spiders.news import NewsSpider

    class Follower(Spider):
        name = "follower"

        async def start(self) -> AsyncIterator[Any]:
            for front in fronts:
                yield Request(front, dont_filter=True)

        def parse(self, response: Any) -> Iterator[Any]:  # noqa: ANN401
            yield from response.follow_all(css="a", callback=self.parse_article)

        def parse_article(self, _response: object) -> None:
            """Nothing: the add-on makes the item."""

    process = CrawlerProcess(dict(settings))
    if spider == SPIDERS[0]:
        process.crawl(NewsSpider, sites=list(fronts), limit=100_000)
    else:
        process.crawl(Follower)
    process.start()


def items_of(path: Path) -> dict[str, list[str]]:
    """What changed of the article at each address of the feed in *path*; nothing of a new one."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8") as lines:
        return {item["url"]: item["changed"] for item in map(json.loads, lines)}


def crawls(web: Web, spider: str, folder: Path) -> list[dict[str, list[str]]]:
    """The items of six crawls that remember what the ones before have seen."""
    found = []
    with served(web) as proxy:
        for number in range(1, EDITS + 1):
            web.crawl = number
            feed = folder / f"{number}.jsonl"
            settings = {
                "ADDONS": {"scrapy_mss.Addon": 500},
                "FEEDS": {str(feed): {"format": "jsonlines"}},
                "LOG_LEVEL": "ERROR",
                "MSS_COPIES": "keep",
                "MSS_ONLY_NEW": 0.001,  # hours after which each page is looked at again
                "MSS_STORE": str(folder / "store"),
                "TELNETCONSOLE_ENABLED": False,
            }
            fronts = [f"http://{host}/" for host in web.fronts]
            arguments = (spider, fronts, settings, proxy)
            process = multiprocessing.get_context("spawn").Process(
                target=crawl_once, args=arguments
            )
            process.start()
            process.join()
            if process.exitcode:
                raise ChildProcessError(f"crawl {number} ended with code {process.exitcode}")
            found.append(items_of(feed))
    return found


def counted(web: Web, found: Sequence[dict[str, list[str]]]) -> dict[str, Counter[str]]:
    """By kind: how many pages were met, and how many came as changed."""
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for url in found[0]:
        for crawl in range(2, EDITS + 1):
            kind = "same" if crawl <= SAME else web.kinds[url].get(crawl)
            if kind is not None:
                rows[kind].update(met=1, came=int(bool(found[crawl - 1].get(url))))
    return rows


def table(rows: Mapping[str, Mapping[str, Counter[str]]]) -> str:
    """Spiders and kinds as a Markdown table."""
    lines = ["| | " + " | ".join(rows) + " |", "| --- |" + " ---: |" * len(rows)]
    for kind in ("same", *(each.__name__ for each in (*NO_CHANGES, *CHANGES))):
        cells = []
        for counts in rows.values():
            met, came = counts[kind]["met"], counts[kind]["came"]
            cells.append(f"{came:,} of {met:,} ({came / max(met, 1):.1%})")
        lines.append(f"| {kind.replace('_', ' ')} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def run(options: argparse.Namespace, _: str) -> None:
    """Crawl all sites with both spiders."""
    pages = [page for name in SETS for page in load(f"jsonl:{options.data / name}.jsonl.xz").pages][
        :: options.every
    ]
    web = web_of(pages, Random(1))  # noqa: S311
    rows = {}
    for spider in SPIDERS:
        with TemporaryDirectory() as folder:
            rows[spider] = counted(web, crawls(web, spider, Path(folder)))
    text = table(rows)
    print(text)
    write_atomically(options.out / "revisions.md", text.encode())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    parser = command_line.Parser(prog=PROGRAM, description="Which pages come again as changed.")
    command_line.add_data(parser)
    command_line.add_out(parser)
    parser.add_argument(
        "--every", type=command_line.at_least(1), default=1, help="every how many pages are crawled"
    )
    parser.set_defaults(perform=run)
    return command_line.run(parser, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
