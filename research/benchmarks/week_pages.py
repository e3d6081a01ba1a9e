"""What the made-up sites of the week send: pages and lists, and what faults make of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from email.utils import format_datetime
from functools import cache, cached_property
from html import escape
from typing import Final, NamedTuple

from research import webs
from research.benchmarks.week_world import Paper, Story, moment, templates
from research.webs.documents import document
from research.webs.rendering import Rendering

HTML, XML, TEXT = "text/html; charset=utf-8", "application/xml", "text/plain"
SECTIONS: Final = ("politics", "culture")
ADVERTISING: Final = ("ad", "event", "job", "test")  # lists of words
HUGE: Final = 49_900  # addresses of a sitemap; its protocol allows a hundred more
OVERSIZE: Final = 5_000_000  # bytes; crawls of the week take fewer
SLOW_SECONDS, TIMEOUT_SECONDS = 0.2, 8.0
NAMESPACES: Final = (
    "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' "
    "xmlns:n='http://www.google.com/schemas/sitemap-news/0.9'"
)


class Answer(NamedTuple):
    """What a server sends."""

    body: str = ""
    kind: str = HTML
    status: int = 200
    location: str = ""
    seconds: float = 0.0  # that it takes


def answer(paper: Paper, path: str, hour: int, request: int) -> Answer:
    """What the site sends in that hour to a *request* for *path*, which has a number."""
    if paper.has("errors", hour) or paper.has("maintenance", hour):
        return Answer("<title>Internal Server Error</title>", status=500)
    make = lists(paper).get(path)
    sent = make(paper, paper.of_lists(hour)) if make else _story(paper, path, hour, request)
    return sent._replace(seconds=SLOW_SECONDS) if paper.has("slow", hour) else sent


def _story(paper: Paper, path: str, hour: int, request: int) -> Answer:
    story = paper.by_path.get(path)
    if story is None or not story.hour <= hour < story.deleted:
        is_gone = story is not None and story.document.number % 2 == 1
        return Answer("<title>Not found</title>", status=410 if is_gone else 404)
    if paper.has("forbidden", hour) or paper.has("forbidden, with texts in the feed", hour):
        return Answer("<title>403 Forbidden</title><h1>403 Forbidden</h1>", status=403)
    if path != story.path_at(hour):
        return Answer(status=301, location=story.path_at(hour))
    seconds = TIMEOUT_SECONDS if paper.has("timeouts", hour) else 0.0
    return Answer(page(paper, story, hour, request), seconds=seconds)


# --- pages ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HourlyRendering(Rendering):
    """A page whose boxes have other stories every hour, and advertising on each request."""

    hour: int = 0
    advertising: str = ""

    @cached_property
    def around(self) -> Rendering:
        """What has the stories of the boxes: the same on all pages of the site in that hour."""
        return Rendering(self.site, replace(self.document, number=self.hour), self.url)

    def links(self, count: int, path: str = "", words: str = "menu") -> str:
        return self.around.links(count, path, words)

    def teasers(self, count: int, n_sentences: int) -> str:
        return self.around.teasers(count, n_sentences)

    def element(self, role: str, inner: str) -> str:
        if role == "related":  # a box within the text
            headline = self.site.prose(f"{self.url}/{self.hour}").write("headline")
            inner = f"{self.prose.labels['related']}: <a href='/x'>{escape(headline)}</a>"
        return super().element(role, inner)

    def content(self) -> str:
        first, _, rest = super().content().partition("\n")
        return f"{first}\n{self.advertising}{rest}"


def page(paper: Paper, story: Story, hour: int, request: int) -> str:
    """The page of *story*, or what a fault sends instead of it."""
    for wall in ("consent", "challenge", "shell"):
        if paper.has(wall, hour):
            return walls(paper.template)[wall]
    site, written = paper.site, story.version(hour)
    if story.is_article and paper.has("lead only", hour):
        written = replace(written, parts=written.parts[:1])
    if story.is_article and paper.has("paywall", hour):
        cut = document(site.prose(f"{story.path}/cut"), "teaser", "teaser")
        written = replace(cut, title=written.title, published=written.published)
    if paper.has("redesign", hour):
        site = templates()[f"tribune/{site.language}"]
    advertising = ""
    if paper.has("advertising", hour):
        prose = site.prose(f"advertising/{request}")
        texts = (prose.write(name) for name in prose.random.sample(ADVERTISING, 3))
        advertising = f"<div class='ad-slot'><p>{' '.join(texts)}</p></div>\n"
    url = paper.address(story, hour)
    made = HourlyRendering(site, written, url, hour, advertising).html()
    return made.replace("</body>", f"<!--{'0' * OVERSIZE}--></body>") if story.is_oversize else made


@cache
def walls(template: str) -> Mapping[str, str]:
    """A page of each kind of wall that the site may have."""
    site = templates()[template]
    own = replace(site, languages=(site.language,))
    return {each.kind: each.html for each in webs.walls(own, bare=False)}


# --- lists ------------------------------------------------------------------------------------


def lists(paper: Paper) -> Mapping[str, Callable[[Paper, int], Answer]]:
    """What makes the lists of a site, by their paths."""
    made = {"/robots.txt": _robots, "/": _front}
    made |= {f"/{name}": _section for name in SECTIONS if paper.sections}
    made |= {f"/{name}": FEEDS[name] for name in paper.lists if name in FEEDS}
    return made


def _robots(paper: Paper, hour: int) -> Answer:
    rules = "User-agent: *\nDisallow: /\n" if paper.has("robots.txt", hour) else ""
    sitemap = f"Sitemap: {paper.url}sitemap\n" if "sitemap" in paper.lists else ""
    return Answer(f"{rules}{sitemap}", TEXT)


def _front(paper: Paper, hour: int) -> Answer:
    names = [name for name in paper.lists if name not in ("front", "sitemap")]
    feeds = "".join(
        f"<link rel=alternate type='application/{'atom' if name == 'atom' else 'rss'}+xml' "
        f"href='/{name}'>"
        for name in names
    )
    sections = "".join(f"<li><a href='/{name}'>{name}</a>" for name in SECTIONS if paper.sections)
    links = "".join(_links(paper, hour)) if "front" in paper.lists else ""
    title = f"<title>{paper.site.title}</title>"
    return Answer(
        f"<html><head>{title}{feeds}</head><body><ul>{sections}</ul>{links}</body></html>"
    )


def _section(paper: Paper, hour: int) -> Answer:
    return Answer(f"<html><head></head><body>{''.join(_links(paper, hour))}</body></html>")


def _links(paper: Paper, hour: int) -> Iterator[str]:
    mark = "?utm_source=front" if paper.has("tracking", hour) else ""
    for story in paper.listed(hour):
        title = escape(story.document.title)
        yield f"<p><a href='{escape(story.path_at(hour))}{mark}'>{title}</a></p>"


def _entries(paper: Paper, hour: int) -> list[tuple[str, Story, str, str]]:
    """What a feed says: address, story, and when that was published and modified."""
    if paper.has("empty feeds", hour):
        return []
    mark = "?utm_source=feed" if paper.has("tracking", hour) else ""
    made = []
    for story in paper.listed(hour):
        published = story.document.published
        modified = moment(hour) if paper.has("dates shift", hour) else story.modified(hour)
        first, last = (f"{each.isoformat()}Z" for each in (published, max(published, modified)))
        made.append((escape(paper.address(story, hour)) + mark, story, first, last))
    return made


def _atom(paper: Paper, hour: int) -> Answer:
    entries = []
    for url, story, published, modified in _entries(paper, hour):
        text = ""
        if paper.full:
            paragraphs = "".join(
                f"<p>{escape(each.text)}</p>" for each in story.version(hour).parts
            )
            text = f"<content type='html'>{escape(paragraphs)}</content>"
        entries.append(
            f"<entry><title>{escape(story.document.title)}</title><link href='{url}'/>"
            f"<published>{published}</published><updated>{modified}</updated>{text}</entry>"
        )
    return Answer(f"<feed xmlns='http://www.w3.org/2005/Atom'>{''.join(entries)}</feed>", XML)


def _rss(paper: Paper, hour: int, *, with_dates: bool = True) -> Answer:
    entries = []
    for url, story, _, _ in _entries(paper, hour):
        date = format_datetime(story.document.published)
        dated = f"<pubDate>{date}</pubDate>" if with_dates else ""
        title = escape(story.document.title)
        entries.append(f"<item><title>{title}</title><link>{url}</link>{dated}</item>")
    if paper.has("off-site", hour):
        others = [each for each in paper.world.papers.values() if each is not paper]
        urls = (each.address(story, hour) for each in others[:3] for story in each.listed(hour)[:3])
        entries += (f"<item><link>{escape(url)}</link></item>" for url in urls)
    return Answer(f"<rss version='2.0'><channel>{''.join(entries)}</channel></rss>", XML)


def _plain(paper: Paper, hour: int) -> Answer:
    return _rss(paper, hour, with_dates=False)


def _sitemap(paper: Paper, hour: int) -> Answer:
    urls = [
        f"<url><loc>{url}</loc><n:news><n:publication_date>{published}</n:publication_date>"
        f"</n:news><lastmod>{modified}</lastmod></url>"
        for url, _, published, modified in _entries(paper, hour)
    ]
    if paper.has("huge sitemap", hour):
        old = (moment(0) - timedelta(days=30)).isoformat()
        urls += (
            f"<url><loc>{paper.url}news/sport-{number}</loc><lastmod>{old}</lastmod></url>"
            for number in range(HUGE)
        )
    return Answer(f"<urlset {NAMESPACES}>{''.join(urls)}</urlset>", XML)


FEEDS: Final = {"atom": _atom, "rss": _rss, "plain": _plain, "sitemap": _sitemap}
