"""Pages as HTML, by the Jinja2 templates of their site.

A site has a template ``base``, which the others extend, and one for articles, lists, galleries,
videos and pages about the paper; a template for a rarer kind, such as ``live``, is optional.
"""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from demo_web.content import ARTICLES, Page
from demo_web.feeds import FEEDS
from demo_web.site import Site
from demo_web.text import Writer, vocabulary

ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def linked(text: str, path: str) -> Markup:
    """*text* with a link to *path* around some of its words."""
    words = text.split(" ")
    before, inside, after = (" ".join(part) for part in (words[:4], words[4:7], words[7:]))
    return Markup('{} <a href="{}">{}</a> {}').format(before, path, inside, after)


ENVIRONMENT.filters["linked"] = linked


def render(site: Site, page: Page) -> str:
    """The HTML of *page*."""
    words = vocabulary(site.language, site.topics[0])
    writer = Writer(words, f"{site.name}{page.path}/template")
    stories = [other for other in site.content if other.kind in ARTICLES and other is not page]
    fallback = "article" if page.kind in ARTICLES else "list"
    looks = filter(None, (site.hour.look, site.name))
    names = [f"{look}/{name}.html.j2" for look in looks for name in (page.kind, fallback)]
    template = ENVIRONMENT.select_template(names)
    return template.render(
        site=site,
        page=page,
        labels=site.labels,
        menu=[*site.sections.values(), *site.hubs.values()],
        url=f"http://{site.host}{page.path}",
        feed=FEEDS[site.feed],
        day=page.published.strftime(site.labels["date"]),
        say=writer.write,
        related=lambda count: writer.random.sample(stories, count),
        videos=[other for other in site.content if other.kind == "video" and other is not page],
    )
