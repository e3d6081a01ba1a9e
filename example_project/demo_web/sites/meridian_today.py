"""Meridian Today: what a component framework leaves after rendering on the server.

Empty comments part the text where values were put in, the first paragraph stands in the header,
the rest is split over containers by promotions, the whole story is there a second time as JSON,
and the next story begins below with its first paragraphs. There is no wrapper for this site.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping
from typing import ClassVar

from demo_web.content import Block, Comment, Gallery, Listing, Notice, Story
from demo_web.markup import (
    code,
    escape,
    icon,
    json_script,
    link,
    quoted,
    script_padding,
    style_padding,
)
from demo_web.site import Site, stamp, style

NUMBER = re.compile(r"(?<=[ >])(\d[\d,]*)(?= )")
CONTAINERS = 3


def styled(name: str) -> str:
    """The class attribute of a styled component."""
    return f'class="sc-{name} {code(name)} {code(name + "/")}"'


class MeridianToday(Site):
    """A site without a printed paper."""

    name = "meridian-today"
    title = "Meridian Today"
    topics = ("health", "business", "culture", "council")
    compressed = True
    pager = "?page={number}"
    paths: ClassVar[Mapping[str, str]] = {
        "story": "/a/{slug}~{number:04d}",
        "live": "/l/{slug}~{number:04d}",
        "gallery": "/g/{number:04d}",
        "home": "/",
        "section": "/c/{key}",
        "tag": "/t/{key}",
        "author": "/u/{key}",
        "notice": "/i/{key}",
    }
    forms: ClassVar[Mapping[str, str]] = {
        "p": '<p data-testid="paragraph">{text}</p>',
        "h": "<h4>{text}</h4>",
        "li": "<li>{text}</li>",
        "list": "<ul>{text}</ul>",
        "post": '<p data-testid="paragraph">{text}</p>',
        "update": '<div data-testid="update"><span>{time}</span>{text}</div>',
    }

    def inline(self, story: Story, block: Block, chance: random.Random) -> str:
        """As elsewhere, with an empty comment on either side of each number."""
        return NUMBER.sub(r"<!-- -->\1<!-- -->", super().inline(story, block, chance))

    def story_page(self, story: Story) -> str:
        pieces = self.pieces(story)
        lead, rest = ("", pieces) if story.live else (pieces[0], pieces[1:])
        picture = self._picture(story, 0)
        tags = " ".join(link(self.list_path("tag", tag.key), tag.label) for tag in story.tags)
        bios = "".join(f"<p>{escape(author.bio)}</p>" for author in story.authors)
        main = f"""<div {styled("hero")}><h1 data-testid="headline">{escape(story.title)}</h1>
<div {styled("lead")}>{lead}</div>
<div {styled("meta")}>{self.ui["by"]} <!-- -->{self.byline(story.authors)}<!-- --> · <!-- --><span>{self.date(story.published)}</span> · <!-- -->{max(1, story.words // 220)}<!-- --> {self.ui["minutes"]}</div></div>
{picture}
{self._columns(story, rest)}
<div {styled("tags")}>{tags}</div>
<div {styled("band")}><h5>{self.ui["about_author"]}</h5>{bios}</div>
{self._opinions(story.comments)}
{self._tiles(self.related(story, 6, "more"))}
{self._next(self.related(story, 1, "next")[0])}"""
        return self._frame(story.title, main, self._metadata(story) + self._data(story))

    def listing_page(self, listing: Listing) -> str:
        rows = [(each.title, self.gallery_path(each)) for each in self.galleries] + self.odd_menu()
        links = "".join(f"<div>{link(path, name)}</div>" for name, path in rows)
        main = f"""<div {styled("hero")}><h1>{escape(listing.title)}</h1></div>
{self._tiles(listing.stories)}
{self.page_links(listing)}<div {styled("band")}>{links}</div>"""
        return self._frame(listing.title, main)

    def gallery_page(self, gallery: Gallery) -> str:
        slides = "".join(
            f'<div {styled("pic")}><img src="{self.picture_path(number)}" alt=""/>'
            f"<div><!-- -->{number + 1}<!-- --> / <!-- -->{len(gallery.captions)}<!-- --> {escape(caption)}</div></div>"
            for number, caption in enumerate(gallery.captions)
        )
        main = f"<div {styled('hero')}><h1>{escape(gallery.title)}</h1><p>{escape(gallery.summary)}</p></div>{slides}"
        return self._frame(gallery.title, main)

    def notice_page(self, notice: Notice) -> str:
        text = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in notice.paragraphs)
        main = f"<div {styled('hero')}><h1>{escape(notice.title)}</h1></div><div {styled('col')}>{text}</div>"
        return self._frame(notice.title, main)

    # --- parts -------------------------------------------------------------------------------

    def _metadata(self, story: Story) -> str:
        rows = {
            "og:title": story.title,
            "og:description": story.summary,
            "og:url": self.url(self.story_path(story)),
            "og:site_name": self.title,
            "og:type": "article",
            "article:author": ", ".join(author.name for author in story.authors),
            "article:published_time": stamp(story.published),
        }
        return "".join(
            f'<meta data-rh="true" property="{key}" content="{quoted(rows[key])}"/>' for key in rows
        )

    def _data(self, story: Story) -> str:
        """The story as the scripts get it."""
        data = {
            "props": {
                "story": {
                    "id": story.number,
                    "headline": story.title,
                    "body": [{"type": block.kind, "html": block.text} for block in story.blocks],
                    "published": stamp(story.published),
                },
                "next": [other.title for other in self.related(story, 12, "data")],
            }
        }
        return json_script(data, "application/json", ' id="__DATA__"')

    def _picture(self, story: Story, number: int) -> str:
        source = self.picture_path(story.number + number)
        return f'<div {styled("pic")}><img src="{source}" srcSet="{source} 640w, {source} 1280w" alt=""/><div>{escape(story.captions[number])}</div></div>'

    def _columns(self, story: Story, pieces: list[str]) -> str:
        """The text in up to three containers, with promotions between them."""
        size = max(3, -(-len(pieces) // CONTAINERS))
        parts = [pieces[start : start + size] for start in range(0, len(pieces), size)]
        columns = [f"<div {styled('col')}>{''.join(part)}</div>" for part in parts]
        boxes = self._boxes(story)
        return "".join(
            column + (boxes[number] if number < len(columns) - 1 else "")
            for number, column in enumerate(columns)
        )

    def _boxes(self, story: Story) -> list[str]:
        writer = self.writer(str(story.number))
        other = self.related(story, 1, "inline")[0]
        quote = f"<div {styled('quote')}>“{escape(story.pull)}”</div>" if story.pull else ""
        sponsor = f"<div {styled('sponsor')}><span>{self.ui['sponsored']}</span> {escape(writer.write('ad'))}</div>"
        return [
            f"""<div {styled("band")}><b>{self.ui["newsletter"]}</b><p>{escape(writer.write("newsletter"))}</p><button type="button">{self.ui["subscribe"]}</button></div>{quote}""",
            f"""{sponsor}<div {styled("band")}><span>{self.ui["related"]}</span><h5>{link(self.story_path(other), other.title)}</h5><p>{escape(other.blocks[0].text)}</p></div>""",
        ]

    def _opinions(self, comments: Iterable[Comment]) -> str:
        entries = "".join(
            f'<div {styled("opinion")} data-depth="{comment.depth}"><b>{escape(comment.user)}</b> <span><!-- -->{comment.likes}<!-- --> {self.ui["likes"]}</span><div>{escape(comment.text)}</div></div>'
            for comment in comments
        )
        return f"<div {styled('opinions')}><h5>{self.ui['comments']}</h5>{entries}</div>"

    def _tiles(self, stories: Iterable[Story]) -> str:
        tiles = "".join(
            f'<div><a href="{self.story_path(story)}"><img src="{self.picture_path(story.number)}" alt=""/></a>'
            f"<h5>{link(self.story_path(story), story.title)}</h5><p>{escape(story.summary)}</p></div>\n"
            for story in stories
        )
        return f"<div {styled('tiles')}>{tiles}</div>"

    def _next(self, story: Story) -> str:
        texts = [block.text for block in story.blocks if block.kind == "p"][:2]
        text = "".join(f'<p data-testid="paragraph">{escape(each)}</p>' for each in texts)
        return f"""<div {styled("next")}><h2>{link(self.story_path(story), story.title)}</h2><div {styled("col")}>{text}</div><a href="{self.story_path(story)}">{self.ui["read_more"]}</a></div>"""

    def _frame(self, title: str, main: str, head: str = "") -> str:
        drawer = "".join(
            f'<a {styled("entry")} href="{quoted(path)}">{escape(name)}</a>\n'
            for name, path in self.menu()
        )
        writer = self.writer(title)
        legal = " ".join(link(path, name) for name, path in self.legal_menu())
        return f"""<!DOCTYPE html><html lang="en" data-reactroot=""><head><meta charSet="utf-8"/><title data-rh="true">{escape(title)} | {self.title}</title>{head}<style data-styled="true" data-styled-version="6.1">{style(self.name)}{style_padding(self.name, 16_000)}</style></head><body><div id="__root"><div {styled("shell")}><div {styled("top")}><a {styled("logo")} href="/">{self.title}</a><div>{icon()}{icon()}{icon()}</div></div>
<div {styled("drawer")}>{drawer}</div>
{main}
<div {styled("sponsor")}><p>{escape(writer.write("support"))}</p></div></div>
<div {styled("base")}><div>{legal}</div><div>{escape(writer.several("legal", 4))}</div></div>
<div {styled("modal")} style="display:none"><p>{escape(writer.write("cookie"))}</p><button type="button">{self.ui["cookies_ok"]}</button></div></div><script>{script_padding(self.name, 21_000)}</script></body></html>
"""
