"""Northgate Post: nested `<div>`s with the hashed class names of CSS modules.

There is no `<article>`, no `<aside>` and no `<hr>`: every paragraph has a `<div>` of its own, a
teaser in the middle of the text is prose, and the comments follow in the same column. One story
has thousands of comments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from demo_web.content import Comment, Gallery, Listing, Notice, Story
from demo_web.markup import (
    code,
    escape,
    icon,
    link,
    quoted,
    script_padding,
    spread,
    style_padding,
)
from demo_web.site import Site, stamp, style


def named(component: str, part: str = "root") -> str:
    """The class attribute of a part of a component."""
    return f'class="{component}_{part}__{code(component + part)}"'


class NorthgatePost(Site):
    """A paper that likes business and courts."""

    name = "northgate-post"
    title = "Northgate Post"
    topics = ("business", "courts", "health", "council")
    wrapped = True
    crowded = 7
    pager = "?page={number}"
    paths: ClassVar[Mapping[str, str]] = {
        "story": "/news/{topic}/{slug}-1{number:05d}",
        "live": "/live/{slug}-9{number:05d}",
        "gallery": "/gallery/{number}",
        "home": "/",
        "section": "/news/{key}",
        "tag": "/topic/{key}",
        "author": "/profile/{key}",
        "notice": "/info/{key}",
    }
    forms: ClassVar[Mapping[str, str]] = {
        "p": f"<div {named('Paragraph')}><p {named('Text', 'body')}>{{text}}</p></div>",
        "h": f"<div {named('Paragraph')}><h2 {named('Subhead')}>{{text}}</h2></div>",
        "li": f"<li {named('Text', 'item')}>{{text}}</li>",
        "list": f"<div {named('Paragraph')}><ul {named('Text', 'list')}>{{text}}</ul></div>",
        "post": f"<p {named('Text', 'body')}>{{text}}</p>",
        "update": f"<div {named('Update')}><div {named('Update', 'time')}>"
        '<time datetime="{stamp}">{time}</time></div>{text}</div>',
    }

    def story_page(self, story: Story) -> str:
        tags = " ".join(
            link(self.list_path("tag", tag.key), tag.label, named("Chip")) for tag in story.tags
        )
        bios = "".join(f"<p>{escape(author.bio)}</p>" for author in story.authors)
        main = f"""{self._header(story)}
<div {named("ArticleBody")} data-component="article-body">{spread(self.pieces(story), self._boxes(story))}</div>
<div {named("Chip", "row")}>{tags}</div>
<div {named("Author", "box")}>{bios}</div>
{self._talk(story.comments)}
{self._tiles(self.related(story, 6, "more"), self.ui["more"])}"""
        return self._frame(story.title, main, self._metadata(story))

    def listing_page(self, listing: Listing) -> str:
        links = [(each.title, self.gallery_path(each)) for each in self.galleries]
        rows = "".join(
            f"<div {named('Row')}>{link(path, name)}</div>"
            for name, path in links + self.odd_menu()
        )
        main = f"""<h1 {named("Title")}>{escape(listing.title)}</h1>
{self._tiles(listing.stories, "")}
<div {named("Pages")}>{self.page_links(listing)}</div>
<div {named("Row", "list")}>{rows}</div>"""
        return self._frame(listing.title, main)

    def gallery_page(self, gallery: Gallery) -> str:
        slides = "\n".join(
            f'<div {named("Slide")}><img src="{self.picture_path(number)}" alt="{quoted(caption)}">'
            f"<div {named('Figure', 'caption')}>{escape(caption)}</div></div>"
            for number, caption in enumerate(gallery.captions)
        )
        main = f"""<h1 {named("Headline")}>{escape(gallery.title)}</h1>
<div {named("Deck")}>{escape(gallery.summary)}</div>{slides}
{self._tiles(self.stories[:4], self.ui["more"])}"""
        return self._frame(gallery.title, main)

    def notice_page(self, notice: Notice) -> str:
        text = "".join(f"<div><p>{escape(paragraph)}</p></div>" for paragraph in notice.paragraphs)
        return self._frame(notice.title, f"<h1>{escape(notice.title)}</h1>{text}")

    # --- parts -------------------------------------------------------------------------------

    def _metadata(self, story: Story) -> str:
        rows = {
            "og:type": "article",
            "og:title": story.title,
            "og:description": story.summary,
            "og:url": self.url(self.story_path(story)),
            "og:image": self.url(self.picture_path(story.number)),
            "article:published_time": stamp(story.published),
            "article:section": self.topic(story.topic),
        }
        names = ", ".join(author.name for author in story.authors)
        metas = [f'<meta property="{key}" content="{quoted(rows[key])}"/>' for key in rows]
        return "".join((*metas, f'<meta name="author" content="{quoted(names)}"/>'))

    def _header(self, story: Story) -> str:
        minutes = max(1, story.words // 220)
        return f"""<div {named("Crumb")}>{link(self.list_path("section", story.topic), self.topic(story.topic))}</div>
<h1 {named("Headline")}>{escape(story.title)}</h1>
<div {named("Deck")}>{escape(story.summary)}</div>
<div {named("Byline")}><div {named("Byline", "names")}>{self.ui["by"]} {self.byline(story.authors)}</div>
<time {named("Byline", "time")} datetime="{stamp(story.published)}">{self.date(story.published)}</time>
<div {named("Byline", "length")}>{minutes} {self.ui["minutes"]}</div>
<div {named("Share")} role="button">{icon(16)} {self.ui["share"]}</div></div>
{self._figure(story, 0)}"""

    def _figure(self, story: Story, number: int) -> str:
        return (
            f'<div {named("Figure")}><img src="{self.picture_path(story.number + number)}" alt="">'
            f"<div {named('Figure', 'caption')}>{escape(story.captions[number])}</div></div>"
        )

    def _boxes(self, story: Story) -> list[str]:
        writer = self.writer(str(story.number))
        other = self.related(story, 1, "inline")[0]
        path = self.story_path(other)
        return [
            self._ad(writer.write("ad")),
            f"""<div {named("ReadMore")}><img src="{self.picture_path(other.number)}" alt=""><div>
<div {named("ReadMore", "title")}>{link(path, other.title)}</div>
<p {named("Text", "small")}>{escape(other.blocks[0].text)} <a href="{path}">{self.ui["read_more"]}</a></p></div></div>""",
            f"<div {named('Promo')}><p>{escape(writer.write('support'))}</p></div>",
            self._figure(story, 2),
            self._ad(writer.write("ad")),
            f"<div {named('Promo')}><p>{escape(writer.write('newsletter'))}</p></div>",
        ]

    def _ad(self, text: str) -> str:
        slot = code(text, 8)
        return (
            f'<div {named("AdSlot")} data-slot="{slot}" data-sizes="[[300,250],[728,90]]">'
            f"<div {named('AdSlot', 'label')}>{self.ui['ad']}</div><div>{escape(text)}</div></div>"
        )

    def _talk(self, comments: Iterable[Comment]) -> str:
        entries = "\n".join(
            f"""<div {named("Talk", "entry")} style="margin-left:{28 * comment.depth}px"><div><span {named("Talk", "name")}>{escape(comment.user)}</span><span>{self.date(comment.when)}</span></div>
<p {named("Text", "small")}>{escape(comment.text)}</p><div {named("Talk", "bar")}>{icon(14)} {comment.likes} {self.ui["likes"]} · {self.ui["reply"]}</div></div>"""
            for comment in comments
        )
        return f"<div {named('Talk')}><h3>{self.ui['comments']}</h3>{entries}</div>"

    def _tiles(self, stories: Iterable[Story], heading: str) -> str:
        tiles = "\n".join(
            f"""<div {named("Tile")}><a href="{self.story_path(story)}"><img src="{self.picture_path(story.number)}" alt=""></a>
<div {named("Tile", "title")}>{link(self.story_path(story), story.title)}</div>
<p {named("Text", "small")}>{escape(story.summary)}</p><div {named("Tile", "date")}>{self.date(story.published)}</div></div>"""
            for story in stories
        )
        return f"<h3>{heading}</h3><div {named('Tile', 'grid')}>{tiles}</div>"

    def _frame(self, title: str, main: str, metadata: str = "") -> str:
        menu = "\n".join(
            f"<div {named('Menu', 'entry')}>{link(path, name, named('Menu', 'link'))}</div>"
            for name, path in self.menu()
        )
        writer = self.writer(title)
        popular = "".join(
            f"<div {named('Side', 'entry')}>{link(self.story_path(story), story.title)}</div>"
            for story in self.chance(title).sample(self.stories, 10)
        )
        legal = " · ".join(link(path, name) for name, path in self.legal_menu())
        return f"""<!doctype html><html lang="en-GB"><head><meta charSet="utf-8"/><meta name="viewport" content="width=device-width"/><title>{escape(title)} - {self.title}</title>{metadata}
<style data-href="app.css">{style(self.name)}{style_padding(self.name, 18_000)}</style>
<script async>{script_padding(self.name, 16_000)}</script></head>
<body><div id="app"><div {named("Page")}>
<div {named("TopBar")}><a href="/">{self.title}</a><div {named("TopBar", "actions")}>{icon()}{icon()}</div></div>
<div {named("Menu")}><div {named("Menu", "list")}>
{menu}
</div></div>
<div {named("Layout", "columns")}><div {named("Layout", "main")}>
{main}
</div><div {named("Layout", "side")}><h3>{self.ui["most_read"]}</h3>{popular}{self._ad(writer.write("ad"))}</div></div>
<div {named("Foot")}><div>{legal}</div><p>{escape(writer.several("legal", 5))}</p></div>
</div></div><div {named("Consent")}><p>{escape(writer.write("cookie"))}</p><button>{self.ui["cookies_ok"]}</button></div></body></html>
"""
