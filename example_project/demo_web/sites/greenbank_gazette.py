"""Greenbank Gazette: a blog system with plug-ins, as many small papers have it.

Shortcodes that no plug-in expands any more stand in the text as they were typed, sharing buttons
and related posts end inside the container of the text, quotes are numeric references, and the
sidebar holds widgets with prose of their own. Metadata is a JSON-LD graph.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import ClassVar

from demo_web.content import Block, Comment, Gallery, Listing, Notice, Story
from demo_web.markup import (
    code,
    escape,
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

REFERENCES = {ord(letter): f"&#{ord(letter)};" for letter in "“”’–…"}


class GreenbankGazette(Site):
    """A village paper."""

    name = "greenbank-gazette"
    title = "Greenbank Gazette"
    topics = ("environment", "sport", "health", "culture")
    wrapped = True
    compressed = True
    pager = "page/{number}/"
    paths: ClassVar[Mapping[str, str]] = {
        "story": "/{date:%Y/%m}/{slug}-{number}/",
        "live": "/{date:%Y/%m}/live-{slug}-{number}/",
        "gallery": "/pictures-{number}/",
        "home": "/",
        "section": "/category/{key}/",
        "tag": "/tag/{key}/",
        "author": "/author/{key}/",
        "notice": "/site/{key}/",
    }
    forms: ClassVar[Mapping[str, str]] = {
        "p": "<p>{text}</p>",
        "h": "<h3>{text}</h3>",
        "li": "<li>{text}</li>",
        "list": '<ul class="wp-block-list">\n{text}\n</ul>',
        "post": "<p>{text}</p>",
        "update": '<div class="lb-entry"><p class="lb-time">{time}</p>\n{text}\n</div>',
    }

    def inline(self, story: Story, block: Block, chance: random.Random) -> str:
        """As elsewhere, with references for quotes and dashes."""
        return super().inline(story, block, chance).translate(REFERENCES)

    def story_page(self, story: Story) -> str:
        pieces = self.pieces(story)
        pieces.insert(1, f'<span id="more-{story.number}"></span><!--more-->')
        tags = ", ".join(
            link(self.list_path("tag", tag.key), tag.label, 'rel="tag"') for tag in story.tags
        )
        main = f"""<article id="post-{story.number}" class="post-{story.number} post type-post status-publish hentry category-{story.topic}">
{self._header(story)}
<div class="entry-content clear" itemprop="text">
{self._caption(story, 0)}
{spread(pieces, self._boxes(story))}
{self._sharing(story)}
{self._related(story)}
</div><!-- .entry-content -->
<footer class="entry-footer"><span class="tags-links">{tags}</span></footer>
<div class="author-info"><h2>{self.ui["about_author"]}</h2>{paragraphs(author.bio for author in story.authors)}</div>
</article>
{self._comments(story.comments)}"""
        return self._frame(story.title, main, self._metadata(story))

    def listing_page(self, listing: Listing) -> str:
        entries = "\n".join(
            f"""<article class="post hentry"><h2 class="entry-title">{link(self.story_path(story), story.title, 'rel="bookmark"')}</h2>
<div class="entry-meta">{self.date(story.published)}</div>
<div class="entry-summary"><p>{escape(story.blocks[0].text)} <a class="more-link" href="{self.story_path(story)}">{self.ui["read_more"]} &#8594;</a></p></div></article>"""
            for story in listing.stories
        )
        main = f"""<header class="page-header"><h1 class="page-title">{escape(listing.title)}</h1></header>
{entries}
<nav class="navigation">{self.page_links(listing)}</nav>"""
        return self._frame(listing.title, main)

    def gallery_page(self, gallery: Gallery) -> str:
        figures = "".join(
            f'<dl class="gallery-item"><dt class="gallery-icon"><img src="{self.picture_path(number)}" '
            f'alt=""></dt><dd class="wp-caption-text gallery-caption">{escape(caption)}</dd></dl>'
            for number, caption in enumerate(gallery.captions)
        )
        main = f"""<article class="post format-gallery hentry"><h1 class="entry-title">{escape(gallery.title)}</h1>
<div class="entry-content"><p>{escape(gallery.summary)}</p><div class="gallery gallery-columns-3">{figures}</div></div></article>"""
        return self._frame(gallery.title, main)

    def notice_page(self, notice: Notice) -> str:
        main = f"""<article class="page type-page hentry"><h1 class="entry-title">{escape(notice.title)}</h1>
<div class="entry-content">{paragraphs(notice.paragraphs)}</div></article>"""
        return self._frame(notice.title, main)

    # --- parts -------------------------------------------------------------------------------

    def _metadata(self, story: Story) -> str:
        url = self.url(self.story_path(story))
        people = [
            {"@type": "Person", "@id": f"{url}#/person/{author.key}", "name": author.name}
            for author in story.authors
        ]
        graph = [
            {"@type": "WebSite", "@id": self.url("/#website"), "name": self.title},
            {"@type": "WebPage", "@id": url, "url": url, "name": f"{story.title} - {self.title}"},
            {
                "@type": "NewsArticle",
                "headline": story.title,
                "datePublished": stamp(story.published),
                "dateModified": stamp(story.updated),
                "wordCount": story.words,
                "author": [{"@id": person["@id"]} for person in people],
            },
            *people,
        ]
        return f"""<link rel="canonical" href="{url}" />
<meta name="description" content="{quoted(story.summary)}" />
<meta property="og:locale" content="en_GB" />
<meta property="og:title" content="{quoted(story.title)} - {self.title}" />
{json_script({"@context": "https://schema.org", "@graph": graph}, attributes=' class="seo-schema-graph"')}"""

    def _header(self, story: Story) -> str:
        return f"""<header class="entry-header">
<h1 class="entry-title">{escape(story.title)}</h1>
<div class="entry-meta"><span class="posted-on">{self.ui["published"]} <time class="entry-date published" datetime="{stamp(story.published)}">{self.date(story.published)}</time></span>
<span class="byline">{self.ui["by"].lower()} <span class="author vcard">{self.byline(story.authors)}</span></span>
<span class="comments-link"><a href="#comments">{len(story.comments)} {self.ui["comments"]}</a></span></div>
</header>"""

    def _caption(self, story: Story, number: int) -> str:
        source = self.picture_path(story.number + number)
        return (
            f'<div id="attachment_{story.number}{number}" class="wp-caption alignnone" style="width: 650px">'
            f'<img class="size-large" src="{source}" alt="" />'
            f'<p class="wp-caption-text">{escape(story.captions[number])}</p></div>'
        )

    def _boxes(self, story: Story) -> list[str]:
        writer, chance = self.writer(str(story.number)), self.chance(f"{story.number}/codes")
        numbers = ",".join(str(chance.randrange(100, 9999)) for _ in range(4))
        quote = f'<figure class="wp-block-pullquote"><blockquote><p>{escape(story.pull)}</p></blockquote></figure>'
        return [
            f'<p>[caption id="attachment_{chance.randrange(9999)}" align="alignright" width="300"] {escape(story.captions[1])} [/caption]</p>',
            f'<div class="adsanity"><small>{self.ui["ad"]}</small><br />{escape(writer.write("ad"))}</div>',
            "<p>&nbsp;</p>",
            f"""<div class="newsletter-signup widget_mc4wp"><h4>{self.ui["newsletter"]}</h4><p>{escape(writer.write("newsletter"))}</p>
<form method="post" action="#"><input type="email" name="EMAIL" placeholder="{self.ui["email"]}" /><input type="submit" value="{self.ui["subscribe"]}" /></form></div>""",
            quote if story.pull else "",
            f'<p>[gallery ids="{numbers}" columns="4"]</p>',
        ]

    def _sharing(self, story: Story) -> str:
        buttons = items(
            f'<a rel="nofollow" class="share-{name} sd-button" href="https://share.example/{name}?u='
            f'{quoted(self.url(self.story_path(story)))}"><span>{name.title()}</span></a>'
            for name in ("print", "mail", "wall", "bird")
        )
        return f'<div class="sharedaddy sd-sharing-enabled"><h3 class="sd-title">{self.ui["share"]}:</h3><ul>{buttons}</ul></div>'

    def _related(self, story: Story) -> str:
        posts = "\n".join(
            f"""<div class="jp-relatedposts-post"><h4>{link(self.story_path(other), other.title)}</h4>
<p class="jp-relatedposts-post-excerpt">{escape(other.summary)} {escape(other.blocks[0].text)}</p></div>"""
            for other in self.related(story, 3, "related")
        )
        return f'<div id="jp-relatedposts" class="jp-relatedposts"><h3>{self.ui["related"]}</h3><div class="jp-relatedposts-items">{posts}</div></div>'

    def _comments(self, comments: Iterable[Comment]) -> str:
        entries = "\n".join(
            f"""<li class="comment depth-{comment.depth + 1}" id="comment-{code(comment.text)}"><div class="comment-body">
<div class="comment-author vcard"><img class="avatar" src="/media/1.png" width="32" height="32" alt="" /> <cite class="fn">{escape(comment.user)}</cite> <span class="says">says:</span></div>
<div class="comment-meta"><a href="#comment-{code(comment.text)}">{self.date(comment.when)} at {comment.when:%H:%M}</a></div>
<p>{escape(comment.text).translate(REFERENCES)}</p>
<div class="reply"><a class="comment-reply-link" href="#respond">{self.ui["reply"]}</a></div></div></li>"""
            for comment in comments
        )
        return f"""<div id="comments" class="comments-area"><h2 class="comments-title">{self.ui["comments"]}</h2>
<ol class="comment-list">{entries}</ol>
<div id="respond" class="comment-respond"><p class="comment-notes">Your email address will not be published. Required fields are marked *</p><textarea id="comment" name="comment"></textarea></div></div>"""

    def _widgets(self, title: str) -> str:
        writer, chance = self.writer(title), self.chance(title)
        latest = items(link(self.story_path(story), story.title) for story in self.stories[:6])
        spoken = [story for story in self.stories if story.comments]
        said = items(
            f"{escape(story.comments[0].user)} on {link(self.story_path(story), story.title)}: "
            f"{escape(story.comments[0].text)}"
            for story in chance.sample(spoken, 3)
        )
        cloud = " ".join(
            link(self.list_path("tag", tag.key), tag.label)
            for topic in self.topics
            for tag in self.tags(topic)
        )
        pictures = items(link(self.gallery_path(each), each.title) for each in self.galleries)
        odd = items(link(path, name) for name, path in self.odd_menu())
        widgets = (
            ("Recent posts", f"<ul>{latest}</ul>"),
            ("Recent comments", f"<ul>{said}</ul>"),
            (self.ui["gallery"], f"<ul>{pictures}</ul>"),
            (self.ui["tags"], f'<div class="tagcloud">{cloud}</div>'),
            ("Support us", f"<p>{escape(writer.write('support'))}</p>"),
            ("Meta", f"<ul>{odd}</ul>"),
        )
        return "\n".join(
            f'<section class="widget"><h2 class="widget-title">{heading}</h2>{body}</section>'
            for heading, body in widgets
        )

    def _frame(self, title: str, main: str, metadata: str = "") -> str:
        menu = items(
            (link(path, name) for name, path in self.menu()),
            'class="menu-item menu-item-type-custom"',
        )
        legal = " | ".join(link(path, name) for name, path in self.legal_menu())
        writer = self.writer(f"{title}/frame")
        return f"""<!DOCTYPE html>
<html lang="en-GB" class="no-js">
<head>
<meta charset="UTF-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>{escape(title)} - {self.title}</title>
{metadata}
<link rel="alternate" type="application/rss+xml" title="{self.title} &raquo; Feed" href="{self.odd_path("feed")}" />
<meta name="generator" content="PressMill 5.9" />
<style id="global-styles-inline-css">{style(self.name)}{style_padding(self.name, 22_000)}</style>
<script id="emoji-release">{script_padding(self.name, 8_000)}</script>
</head>
<body class="single single-post wp-embed-responsive">
<div id="page" class="hfeed site">
<header id="masthead" class="site-header"><div class="site-branding"><p class="site-title"><a href="/" rel="home">{self.title}</a></p><p class="site-description">News from both banks of the stream</p></div>
<nav id="site-navigation" class="main-navigation"><ul id="primary-menu" class="menu">
{menu}
</ul></nav></header>
<div id="content" class="site-content"><div id="primary" class="content-area"><main id="main" class="site-main">
{main}
</main></div>
<aside id="secondary" class="widget-area">
{self._widgets(title)}
</aside></div>
<footer id="colophon" class="site-footer"><p>{legal}</p><p>{escape(writer.several("legal", 4))}</p><div class="site-info">Proudly run by volunteers</div></footer>
</div>
<div id="cookie-notice" class="cookie-notice-hidden"><span>{escape(writer.write("cookie"))}</span> <a href="#" class="cn-button">{self.ui["cookies_ok"]}</a></div>
<script id="footer-js">{script_padding(self.name + "/footer", 11_000)}</script>
</body>
</html>
"""
