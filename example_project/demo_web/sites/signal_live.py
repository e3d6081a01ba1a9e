"""Signal Live: everything is a timed post in a stream, articles too.

The page of an article goes on with posts from elsewhere in containers of the same kind, so that
only their order and their headings tell what belongs to the title. Readers' reactions stand
between the posts. Metadata is a `<time>` and a byline; there is no wrapper for this site.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from demo_web.content import Block, Comment, Gallery, Listing, Notice, Story
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
from demo_web.site import Site, stamp, style


class SignalLive(Site):
    """News by the minute."""

    name = "signal-live"
    title = "Signal Live"
    topics = ("courts", "transport", "environment", "sport")
    compressed = True
    n_live = 12
    pager = "/{number}"
    paths: ClassVar[Mapping[str, str]] = {
        "story": "/story/{number}/{slug}",
        "live": "/live/{number}/{slug}",
        "gallery": "/pictures/{number}",
        "home": "/",
        "section": "/now/{key}",
        "tag": "/on/{key}",
        "author": "/by/{key}",
        "notice": "/house/{key}",
    }
    forms: ClassVar[Mapping[str, str]] = {
        "p": "<p>{text}</p>",
        "h": "<h2>{text}</h2>",
        "li": "<li>{text}</li>",
        "list": "<ul>{text}</ul>",
        "post": "<p>{text}</p>",
        "update": '<div class="post" data-ts="{stamp}"><span class="post__time">{time}</span>\n{text}\n</div>',
    }

    def list_path(self, kind: str, key: str = "", number: int = 1) -> str:
        """As elsewhere, but the home page's address ends in a slash already."""
        return super().list_path(kind, key, number).replace("//", "/page/")

    def story_page(self, story: Story) -> str:
        pieces = spread(self.pieces(story), self._boxes(story))
        stream = pieces if story.live else f"{pieces}\n{self._ends(story)}"
        opening = "" if story.live else f"{self._media(story, 0)}\n{stream}"
        main = f"""<div class="post post--full" id="p{story.number}"><span class="post__time"><time datetime="{stamp(story.published)}">{story.published:%H:%M}</time></span>
<h1>{escape(story.title)}</h1>
<span class="post__author">{self.ui["by"]} {self.byline(story.authors)} · {self.date(story.published)}</span>
{opening}
</div>
{stream if story.live else ""}
{self._reactions(story.comments)}
{self._stream(story)}"""
        return self._frame(story.title, main, story.summary)

    def listing_page(self, listing: Listing) -> str:
        posts = "\n".join(self._card(story) for story in listing.stories)
        rows = [(each.title, self.gallery_path(each)) for each in self.galleries] + self.odd_menu()
        links = items(link(path, name) for name, path in rows)
        main = f"""<h1>{escape(listing.title)}</h1>
{posts}
{self.page_links(listing)}
<ul class="see-also">{links}</ul>"""
        return self._frame(listing.title, main, listing.title)

    def gallery_page(self, gallery: Gallery) -> str:
        posts = "\n".join(
            f'<div class="post"><div class="post__media"><img src="{self.picture_path(number)}" alt="">'
            f"<span>{escape(caption)}</span></div></div>"
            for number, caption in enumerate(gallery.captions)
        )
        main = f"<h1>{escape(gallery.title)}</h1><p>{escape(gallery.summary)}</p>{posts}"
        return self._frame(gallery.title, main, gallery.summary)

    def notice_page(self, notice: Notice) -> str:
        main = f"""<div class="post"><h1>{escape(notice.title)}</h1>{paragraphs(notice.paragraphs)}</div>"""
        return self._frame(notice.title, main, notice.title)

    # --- parts -------------------------------------------------------------------------------

    def _media(self, story: Story, number: int) -> str:
        source = self.picture_path(story.number + number)
        return f'<div class="post__media"><img src="{source}" alt=""><span>{escape(story.captions[number])}</span></div>'

    def _boxes(self, story: Story) -> list[str]:
        writer = self.writer(str(story.number))
        first, second = self.related(story, 2, "inline")
        return [
            f'<div class="inline-offer"><small>{self.ui["ad"]}</small> {escape(writer.write("ad"))}</div>',
            f'<div class="see-also">{self.ui["related"]}: {link(self.story_path(first), first.title)}. {escape(first.summary)}</div>',
            f'<div class="inline-offer">{escape(writer.write("newsletter"))} <a href="#join">{self.ui["subscribe"]}</a></div>',
            self._media(story, 1),
            f'<div class="see-also">{link(self.story_path(second), second.title)}</div>',
        ]

    def _ends(self, story: Story) -> str:
        tags = " ".join(link(self.list_path("tag", tag.key), f"#{tag.label}") for tag in story.tags)
        bios = " ".join(escape(author.bio) for author in story.authors)
        return f'<div class="post__tags">{tags}</div><div class="post__bio"><p>{bios}</p></div>'

    def _reactions(self, comments: Iterable[Comment]) -> str:
        bubbles = "\n".join(
            f'<div class="bubble"><strong>{escape(comment.user)}</strong> {comment.when:%H:%M}<p>{escape(comment.text)}</p>'
            f'<a href="#like">{self.ui["likes"]} {comment.likes}</a></div>'
            for comment in comments
        )
        return f'<div class="reactions"><h3>{self.ui["comments"]}</h3>{bubbles}</div>'

    def _stream(self, story: Story) -> str:
        """Openings of other stories, as a page that scrolls without end loads them."""
        return "\n".join(self._opening(other) for other in self.related(story, 3, "stream"))

    def _opening(self, story: Story) -> str:
        texts = self._first(story.blocks, 2)
        return f"""<div class="post post--next"><span class="post__time"><time datetime="{stamp(story.published)}">{story.published:%H:%M}</time></span>
<h2>{link(self.story_path(story), story.title)}</h2>
<span class="post__author">{self.ui["by"]} {self.byline(story.authors)} · {self.date(story.published)}</span>
{paragraphs(texts)}
<a href="{self.story_path(story)}">{self.ui["read_more"]}</a></div>"""

    @staticmethod
    def _first(blocks: Iterable[Block], count: int) -> list[str]:
        return [block.text for block in blocks if block.kind in {"p", "post"}][:count]

    def _card(self, story: Story) -> str:
        return f"""<div class="post"><span class="post__time"><time datetime="{stamp(story.published)}">{story.published:%H:%M}</time></span>
<h2>{link(self.story_path(story), story.title)}</h2><p>{escape(self._first(story.blocks, 1)[0])}</p></div>"""

    def _frame(self, title: str, main: str, summary: str) -> str:
        writer, chance = self.writer(title), self.chance(title)
        tabs = "\n".join(link(path, name, 'class="tab"') for name, path in self.menu())
        ticker = " +++ ".join(
            link(self.story_path(story), story.title) for story in chance.sample(self.live, 5)
        )
        popular = items(
            link(self.story_path(story), story.title) for story in chance.sample(self.stories, 9)
        )
        legal = " ".join(link(path, name) for name, path in self.legal_menu())
        return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{escape(title)} · {self.title}</title>
<meta name="description" content="{quoted(summary)}">
<style>
{style(self.name)}
{style_padding(self.name, 11_000)}
</style>
<script>
{script_padding(self.name, 19_000)}
</script></head>
<body>
<div class="ticker">+++ {ticker} +++</div>
<div class="brand"><a href="/">{self.title}</a></div>
<div class="tabs">
{tabs}
</div>
<div class="wrap">
{main}
<div class="see-also"><h3>{self.ui["most_read"]}</h3><ol>{popular}</ol></div>
<div class="inline-offer"><p>{escape(writer.write("support"))}</p></div>
</div>
<div class="fineprint"><p>{legal}</p><p>{escape(writer.several("legal", 3))}</p><p>{escape(writer.write("cookie"))} <button>{self.ui["cookies_ok"]}</button></p></div>
</body></html>
"""
