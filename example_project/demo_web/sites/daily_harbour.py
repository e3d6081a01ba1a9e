"""The Daily Harbour: semantic HTML 5, one `<article>` for the story, JSON-LD and OpenGraph.

Comments are `<article>` elements too, behind an `<hr>`; a newsletter box, an advertisement, a box of
related stories and a repeated quote stand between the paragraphs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from demo_web.content import Comment, Gallery, Listing, Notice, Story
from demo_web.markup import (
    escape,
    icon,
    items,
    json_script,
    link,
    paragraphs,
    quoted,
    script_padding,
    spread,
    style_padding,
)
from demo_web.site import Site, stamp, style


class DailyHarbour(Site):
    """A general paper of a port."""

    name = "daily-harbour"
    title = "The Daily Harbour"
    topics = ("transport", "council", "environment", "culture")
    compressed = True
    wrapped = True
    pager = "page/{number}/"
    paths: ClassVar[Mapping[str, str]] = {
        "story": "/{date:%Y/%m/%d}/{slug}-{number}/",
        "live": "/live/{date:%Y/%m/%d}/{slug}-{number}/",
        "gallery": "/pictures/{number}/",
        "home": "/",
        "section": "/section/{key}/",
        "tag": "/tag/{key}/",
        "author": "/author/{key}/",
        "notice": "/about/{key}/",
    }
    forms: ClassVar[Mapping[str, str]] = {
        "p": "<p>{text}</p>",
        "h": "<h2>{text}</h2>",
        "li": "<li>{text}</li>",
        "list": "<ul>\n{text}\n</ul>",
        "post": "<p>{text}</p>",
        "update": '<section class="update"><time datetime="{stamp}">{time}</time>\n{text}\n</section>',
    }

    def story_page(self, story: Story) -> str:
        tags = items(link(self.list_path("tag", tag.key), tag.label) for tag in story.tags)
        bios = paragraphs(author.bio for author in story.authors)
        main = f"""<article class="story" id="story-{story.number}">
{self._header(story)}
<div class="story-body">
{spread(self.pieces(story), self._boxes(story))}
</div>
<footer class="story-footer"><ul class="tag-list">{tags}</ul>
<div class="author-box"><h4>{self.ui["about_author"]}</h4>{bios}</div></footer>
</article>
<hr class="rule">
{self._comments(story.comments)}
{self._cards(self.related(story, 6, "more"), self.ui["more"])}"""
        return self._frame(story.title, main, self._metadata(story))

    def listing_page(self, listing: Listing) -> str:
        odd = items(link(path, name) for name, path in self.odd_menu())
        galleries = items(link(self.gallery_path(each), each.title) for each in self.galleries)
        main = f"""<div class="front"><h1>{escape(listing.title)}</h1>
{self._cards(listing.stories, "")}
{self.page_links(listing)}
<section class="pictures"><h2>{self.ui["gallery"]}</h2><ul>{galleries}</ul></section>
<ul class="archive-links">{odd}</ul></div>"""
        return self._frame(listing.title, main)

    def gallery_page(self, gallery: Gallery) -> str:
        figures = "\n".join(
            f'<figure class="slide" id="slide-{number}"><img src="{self.picture_path(number)}" alt="">'
            f"<figcaption>{number}/{len(gallery.captions)} {escape(caption)}</figcaption></figure>"
            for number, caption in enumerate(gallery.captions, 1)
        )
        main = f"""<article class="gallery"><header><h1>{escape(gallery.title)}</h1>
<p class="standfirst">{escape(gallery.summary)}</p></header>
{figures}
</article>
{self._cards(self.stories[:3], self.ui["more"])}"""
        return self._frame(gallery.title, main)

    def notice_page(self, notice: Notice) -> str:
        text = paragraphs(notice.paragraphs)
        return self._frame(
            notice.title, f'<div class="notice"><h1>{escape(notice.title)}</h1>\n{text}</div>'
        )

    # --- parts -------------------------------------------------------------------------------

    def _metadata(self, story: Story) -> str:
        url = self.url(self.story_path(story))
        data = {
            "@context": "https://schema.org",
            "@type": "LiveBlogPosting" if story.live else "NewsArticle",
            "headline": story.title,
            "description": story.summary,
            "datePublished": stamp(story.published),
            "dateModified": stamp(story.updated),
            "author": [{"@type": "Person", "name": author.name} for author in story.authors],
            "publisher": {"@type": "Organization", "name": self.title},
            "image": self.url(self.picture_path(story.number)),
            "mainEntityOfPage": url,
        }
        return f"""<link rel="canonical" href="{url}">
<meta name="description" content="{quoted(story.summary)}">
<meta property="og:type" content="article">
<meta property="og:title" content="{quoted(story.title)}">
<meta property="og:description" content="{quoted(story.summary)}">
<meta property="og:url" content="{url}">
<meta property="og:site_name" content="{self.title}">
<meta property="og:image" content="{self.url(self.picture_path(story.number))}">
<meta property="article:published_time" content="{stamp(story.published)}">
{json_script(data)}"""

    def _header(self, story: Story) -> str:
        shares = items(
            f'<a href="https://share.example/{name}?u={quoted(self.url(self.story_path(story)))}" '
            f'aria-label="{name}">{icon()}</a>'
            for name in ("mail", "chat", "wall", "bird")
        )
        return f"""<header>
<p class="kicker">{link(self.list_path("section", story.topic), self.topic(story.topic))}</p>
<h1>{escape(story.title)}</h1>
<p class="standfirst">{escape(story.summary)}</p>
<p class="byline">{self.ui["by"]} {self.byline(story.authors)}</p>
<time datetime="{stamp(story.published)}">{self.date(story.published)}, {story.published:%H:%M}</time>
<ul class="share">{shares}</ul>
</header>
{self._figure(story, 0)}"""

    def _figure(self, story: Story, number: int) -> str:
        source = self.picture_path(story.number + number)
        return (
            f'<figure class="picture"><img src="{source}" alt="" loading="lazy">'
            f"<figcaption>{escape(story.captions[number])}</figcaption></figure>"
        )

    def _boxes(self, story: Story) -> list[str]:
        writer = self.writer(str(story.number))
        first, second = self.related(story, 2, "inline")
        quote = f'<blockquote class="pull-quote">“{escape(story.pull)}”</blockquote>'
        related = "".join(
            f"<li>{link(self.story_path(other), other.title)}<br>{escape(other.summary)}</li>"
            for other in (first, second)
        )
        return [
            f"""<aside class="newsletter-box"><h4>{self.ui["newsletter"]}</h4>
<p>{escape(writer.write("newsletter"))}</p>
<form action="#"><input type="email" placeholder="{self.ui["email"]}"><button>{self.ui["subscribe"]}</button></form></aside>""",
            f'<div class="ad-slot"><span>{self.ui["ad"]}</span><p>{escape(writer.write("ad"))}</p></div>',
            f'<aside class="related-inline"><h4>{self.ui["related"]}</h4><ul>{related}</ul></aside>',
            quote if story.pull else "",
            self._figure(story, 1),
        ]

    def _comments(self, comments: Iterable[Comment]) -> str:
        entries = "\n".join(
            f"""<article class="comment depth-{comment.depth}"><header><b>{escape(comment.user)}</b>
<time>{self.date(comment.when)}, {comment.when:%H:%M}</time></header>
<p>{escape(comment.text)}</p>
<footer><a href="#reply">{self.ui["reply"]}</a> <a href="#report">{self.ui["report"]}</a></footer></article>"""
            for comment in comments
        )
        return f"""<section class="comments" id="comments"><h2>{self.ui["comments"]}</h2>
{entries}
<form action="#"><textarea name="comment"></textarea><button>{self.ui["reply"]}</button></form></section>"""

    def _cards(self, stories: Iterable[Story], heading: str) -> str:
        cards = "\n".join(
            f"""<article class="card"><a href="{self.story_path(story)}"><img src="{self.picture_path(story.number)}" alt=""></a>
<h3>{link(self.story_path(story), story.title)}</h3><p>{escape(story.summary)}</p>
<time datetime="{stamp(story.published)}">{self.date(story.published)}</time></article>"""
            for story in stories
        )
        return f'<section class="more-stories"><h2>{heading}</h2><div class="cards">{cards}</div></section>'

    def _rail(self, title: str) -> str:
        writer = self.writer(f"{title}/rail")
        popular = items(
            link(self.story_path(story), story.title)
            for story in self.chance(title).sample(self.stories, 8)
        )
        return f"""<aside class="rail"><h3>{self.ui["most_read"]}</h3><ol>{popular}</ol>
<div class="support"><p>{escape(writer.write("support"))}</p><a href="#join">{self.ui["subscribe"]}</a></div>
<div class="ad-slot"><span>{self.ui["ad"]}</span><p>{escape(writer.write("ad"))}</p></div></aside>"""

    def _frame(self, title: str, main: str, metadata: str = "") -> str:
        menu = items(
            (link(path, name, 'class="nav-link"') for name, path in self.menu()), 'class="nav-item"'
        )
        writer = self.writer(title)
        legal = items(link(path, name) for name, path in self.legal_menu())
        return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)} | {self.title}</title>
{metadata}
<link rel="alternate" type="application/rss+xml" href="{self.odd_path("feed")}">
<style>{style(self.name)}{style_padding(self.name, 14_000)}</style>
<script>{script_padding(self.name, 12_000)}</script>
</head>
<body class="no-js">
<a class="skip" href="#main">Skip to content</a>
<div class="consent" role="dialog"><p>{escape(writer.write("cookie"))}</p><button>{self.ui["cookies_ok"]}</button><button>{self.ui["cookies_no"]}</button></div>
<header class="site-header"><div class="masthead"><a href="/">{self.title}</a></div>
<nav class="nav-main" aria-label="Sections"><ul>
{menu}
</ul></nav></header>
<main id="main">
{main}
{self._rail(title)}
</main>
<footer class="site-footer"><ul>{legal}</ul>
{paragraphs((writer.several("legal", 4), writer.several("legal", 2)))}
</footer>
<script>{script_padding(self.name + "/end", 9_000)}</script>
</body>
</html>
"""
