"""Severnye Vesti: a Russian paper in windows-1251 whose markup is broken in every known way.

The templates below are sound; `spoil` breaks what they make, one row of `FAULTS` for each kind of
fault. The text survives all of them: no fault touches a word.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, NamedTuple

from demo_web.content import Comment, Gallery, Listing, Notice, Story
from demo_web.markup import (
    escape,
    items,
    link,
    paragraphs,
    quoted,
    script_padding,
    spread,
    style_padding,
)
from demo_web.site import Site, style


class Fault(NamedTuple):
    """What is wrong on *share* of the places that match *sound*."""

    sound: re.Pattern[str]
    broken: Callable[[re.Match[str]], str]
    share: float


def _crossed(match: re.Match[str]) -> str:
    """Two elements that do not nest, around the words that one was around."""
    return f"<{match[1]}><u>{match[2]}</{match[1]}></u>"


FAULTS = (
    Fault(re.compile(r"</p>"), lambda _: "", 0.6),
    Fault(re.compile(r"</li>"), lambda _: "", 0.7),
    Fault(re.compile(r"</div>(?=\s*<div class=.?kom)"), lambda _: "", 0.3),
    Fault(re.compile(r"</div>(?=\s*<p>)"), lambda _: "</div></span>", 0.3),
    Fault(re.compile(r"(?<=\w=)\"([\w./#-]+)\""), lambda match: match[1], 0.5),
    Fault(re.compile(r"<(b|i|em|strong)>([^<]*)</\1>"), _crossed, 0.6),
    Fault(re.compile(r"&amp;"), lambda _: "&", 1.0),
    Fault(re.compile(r"<br>"), lambda _: "</br>", 0.4),
    Fault(re.compile(r"<p>"), lambda _: "<P ALIGN=justify>", 0.2),
    Fault(re.compile(r"</h1>"), lambda _: "</h2>", 0.3),
)


def spoil(markup: str, chance: random.Random) -> str:
    """*markup* with faults."""
    for fault in FAULTS:

        def change(match: re.Match[str], fault: Fault = fault) -> str:
            return fault.broken(match) if chance.random() < fault.share else match[0]

        markup = fault.sound.sub(change, markup)
    return markup


class SevernyeVesti(Site):
    """A paper from the far north."""

    name = "severnye-vesti"
    title = "Северные вести"
    language = "ru"
    encoding = "windows-1251"
    content_type = "text/html; charset=windows-1251"
    topics = ("council", "transport", "environment", "culture")
    pager = "{number}.html"
    paths: ClassVar[Mapping[str, str]] = {
        "story": "/news/{date:%Y/%m/%d}/{number}.html",
        "live": "/online/{number}.html",
        "gallery": "/foto/{number}.html",
        "home": "/",
        "section": "/razdel/{key}/",
        "tag": "/tema/{key}/",
        "author": "/avtor/{key}/",
        "notice": "/o/{key}.html",
    }
    forms: ClassVar[Mapping[str, str]] = {
        "p": "<p>{text}</p>",
        "h": "<p><b>{text}</b></p>",
        "li": "<li>{text}</li>",
        "list": "<ul>{text}</ul>",
        "post": "<p>{text}</p>",
        "update": '<div class="post"><b>{time}</b>{text}</div>',
    }

    def story_page(self, story: Story) -> str:
        tags = ", ".join(link(self.list_path("tag", tag.key), tag.label) for tag in story.tags)
        clock = f"{self.date(story.published)}, {story.published:%H:%M}"
        main = f"""<h1>{escape(story.title)}</h1>
<div class="sub">{clock}<br>{self.ui["by"]} {self.byline(story.authors)}</div>
{self._picture(story, 0)}
<div class="text">
{spread(self.pieces(story), self._boxes(story))}
</div>
<div class="sub">{self.ui["tags"]}: {tags}</div>
<div class="sub">{paragraphs(author.bio for author in story.authors)}</div>
<hr>
{self._comments(story.comments)}
{self._teasers(self.related(story, 6, "more"), self.ui["more"])}"""
        return self._frame(story.title, main, str(story.number))

    def listing_page(self, listing: Listing) -> str:
        rows = [(each.title, self.gallery_path(each)) for each in self.galleries] + self.odd_menu()
        links = items(link(path, name) for name, path in rows)
        main = f"""{self._teasers(listing.stories, listing.title)}
{self.page_links(listing)}<ul>{links}</ul>"""
        return self._frame(listing.title, main, f"{listing.title}/{listing.number}")

    def gallery_page(self, gallery: Gallery) -> str:
        pictures = "\n".join(
            f'<div class="pic"><img src="{self.picture_path(number)}"><br>{escape(caption)}</div>'
            for number, caption in enumerate(gallery.captions)
        )
        main = f"<h1>{escape(gallery.title)}</h1><p>{escape(gallery.summary)}</p>\n{pictures}"
        return self._frame(gallery.title, main, gallery.title)

    def notice_page(self, notice: Notice) -> str:
        main = f"<h1>{escape(notice.title)}</h1>\n{paragraphs(notice.paragraphs)}"
        return self._frame(notice.title, main, notice.title)

    # --- parts -------------------------------------------------------------------------------

    def _picture(self, story: Story, number: int) -> str:
        source = self.picture_path(story.number + number)
        return f'<div class="pic"><img src="{source}"><br>{escape(story.captions[number])}</div>'

    def _boxes(self, story: Story) -> list[str]:
        writer = self.writer(str(story.number))
        other = self.related(story, 1, "inline")[0]
        return [
            f'<div class="ban">{self.ui["ad"]}: {escape(writer.write("ad"))}</div>',
            f'<div class="tema">{self.ui["related"]}: {link(self.story_path(other), other.title)}<br>{escape(other.blocks[0].text)}</div>',
            f'<div class="ban">{escape(writer.write("newsletter"))}</div>',
            self._picture(story, 1),
        ]

    def _comments(self, comments: Iterable[Comment]) -> str:
        entries = "\n".join(
            f'<div class="kom"><b>{escape(comment.user)}</b> <i>{self.date(comment.when)}</i><br>'
            f'{escape(comment.text)} <a href="#otvet">{self.ui["reply"]}</a></div>'
            for comment in comments
        )
        return f"<h3>{self.ui['comments']}</h3>\n{entries}\n<h3>{self.ui['subscribe']}</h3>"

    def _teasers(self, stories: Iterable[Story], heading: str) -> str:
        entries = "\n".join(
            f"""<div class="an"><b>{link(self.story_path(story), story.title)}</b><p>{escape(story.summary)}</p></div>"""
            for story in stories
        )
        return f"<h1>{escape(heading)}</h1>\n{entries}" if heading else entries

    def _frame(self, title: str, main: str, seed: str) -> str:
        writer = self.writer(title)
        menu = items(link(path, name) for name, path in self.menu())
        popular = items(
            link(self.story_path(story), story.title)
            for story in self.chance(title).sample(self.stories, 12)
        )
        latest = self._teasers(self.stories[:4], "")
        legal = " | ".join(link(path, name) for name, path in self.legal_menu())
        legal += ' | <a href="https://share.example/?paper=1&amp;page=2">Telegraf &amp; Co</a>'
        body = f"""<div id="wrap"><div id="head"><a href="/">{self.title}</a></div>
<ul id="topmenu">
{menu}
</ul>
<div id="left">
{main}
</div>
<div id="right"><h3>{self.ui["most_read"]}</h3><ul>{popular}</ul>
<div class="ban">{escape(writer.write("ad"))}</div>
{latest}
<p>{escape(writer.write("support"))}</p></div>
<div id="foot">{legal}<p>{escape(writer.several("legal", 4))}</p><p>{escape(writer.write("cookie"))}</p></div></div>"""
        return f"""<html>
<head>
<title>{escape(title)} - {self.title}</title>
<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">
<meta name="keywords" content="{quoted(title)}">
<style>{style(self.name)}
{style_padding(self.name, 9_000)}</style>
<script>{script_padding(self.name, 12_000)}</script>
</head>
<body>
{spoil(body, self.chance(f"{seed}/faults"))}
<script>{script_padding(self.name + "/counter", 6_000)}</script>
</body>
</html>
"""
