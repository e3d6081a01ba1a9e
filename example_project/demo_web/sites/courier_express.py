"""Courier Express: pages for telephones, full of custom elements.

Pictures, advertisements, menus and forms are `<amp-…>` elements that no HTML parser knows; state
stands as JSON in between. The comments are in an accordion, the related stories in a list with a
fallback inside the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from demo_web.content import Comment, Gallery, Listing, Notice, Story
from demo_web.markup import escape, json_script, link, paragraphs, quoted, spread, style_padding
from demo_web.site import Site, stamp, style

# What the framework's own script would unhide stays hidden, since that script is not there.
BOILERPLATE = "body{animation:show .1s steps(1,end)}amp-sidebar,amp-consent{display:none}"
EXTENSIONS = "ad consent sidebar accordion carousel form list social-share analytics".split()


class CourierExpress(Site):
    """A city paper that is read on the train."""

    name = "courier-express"
    title = "Courier Express"
    topics = ("sport", "business", "transport", "courts")
    wrapped = True
    pager = "?p={number}"
    paths: ClassVar[Mapping[str, str]] = {
        "story": "/amp/{topic}/{slug}-{number}.html",
        "live": "/amp/live/{slug}-{number}.html",
        "gallery": "/amp/gallery/{number}.html",
        "home": "/",
        "section": "/amp/section/{key}.html",
        "tag": "/amp/tag/{key}.html",
        "author": "/amp/people/{key}.html",
        "notice": "/amp/house/{key}.html",
    }
    forms: ClassVar[Mapping[str, str]] = {
        "p": "<p>{text}</p>",
        "h": "<h2>{text}</h2>",
        "li": "<li>{text}</li>",
        "list": "<ul>{text}</ul>",
        "post": "<p>{text}</p>",
        "update": '<div class="live-item" data-sort-time="{stamp}"><span class="clock">{time}</span>'
        "\n{text}\n</div>",
    }

    def story_page(self, story: Story) -> str:
        tags = " ".join(link(self.list_path("tag", tag.key), tag.label) for tag in story.tags)
        main = f"""<article class="column" id="top">
<h1>{escape(story.title)}</h1>
<p class="teaser-line">{escape(story.summary)}</p>
<div class="meta"><span class="who">{self.ui["by"]} {self.byline(story.authors)}</span> <time datetime="{stamp(story.published)}">{self.date(story.published)} {story.published:%H:%M}</time></div>
{self._image(story, 0)}
<amp-social-share type="email" width="36" height="36"></amp-social-share><amp-social-share type="system" width="36" height="36"></amp-social-share>
<div class="copy" [class]="size.big ? 'copy big' : 'copy'">
{spread(self.pieces(story), self._boxes(story))}
</div>
<div class="chips">{tags}</div>
<div class="inset about">{paragraphs(author.bio for author in story.authors)}</div>
{self._voices(story.comments)}
{self._list(self.related(story, 5, "more"), self.ui["more"])}
</article>"""
        return self._frame(story.title, main, self._metadata(story))

    def listing_page(self, listing: Listing) -> str:
        rows = [(each.title, self.gallery_path(each)) for each in self.galleries] + self.odd_menu()
        links = "\n".join(f"<p>{link(path, name)}</p>" for name, path in rows)
        main = f"""<div class="column"><h1>{escape(listing.title)}</h1>
{self._list(listing.stories, "")}
{self.page_links(listing)}
<div class="inset">{links}</div></div>"""
        return self._frame(listing.title, main)

    def gallery_page(self, gallery: Gallery) -> str:
        slides = "\n".join(
            f'<div class="slide"><amp-img src="{self.picture_path(number)}" width="640" height="360" '
            f'layout="responsive"></amp-img><p class="cap">{escape(caption)}</p></div>'
            for number, caption in enumerate(gallery.captions)
        )
        main = f"""<div class="column"><h1>{escape(gallery.title)}</h1><p>{escape(gallery.summary)}</p>
<amp-carousel width="640" height="400" layout="responsive" type="slides">{slides}</amp-carousel>
{self._list(self.stories[4:8], self.ui["more"])}</div>"""
        return self._frame(gallery.title, main)

    def notice_page(self, notice: Notice) -> str:
        text = paragraphs(notice.paragraphs)
        return self._frame(
            notice.title, f'<div class="column"><h1>{escape(notice.title)}</h1>{text}</div>'
        )

    # --- parts -------------------------------------------------------------------------------

    def _metadata(self, story: Story) -> str:
        data = {
            "@context": "http://schema.org",
            "@type": "NewsArticle",
            "headline": story.title,
            "datePublished": stamp(story.published),
            "author": [{"@type": "Person", "name": author.name} for author in story.authors],
            "image": [self.url(self.picture_path(story.number))],
            "publisher": {"@type": "Organization", "name": self.title},
        }
        return json_script(data)

    def _image(self, story: Story, number: int) -> str:
        source = self.picture_path(story.number + number)
        return (
            f'<amp-img src="{source}" width="1280" height="720" layout="responsive">'
            f'<noscript><img src="{source}" alt=""></noscript></amp-img>'
            f'<p class="cap">{escape(story.captions[number])}</p>'
        )

    def _boxes(self, story: Story) -> list[str]:
        writer = self.writer(str(story.number))
        fallback = "".join(
            f"<p><b>{link(self.story_path(other), other.title)}</b> {escape(other.summary)}</p>"
            for other in self.related(story, 3, "inline")
        )
        return [
            self._ad(writer.write("ad")),
            f"""<div class="inset"><amp-list width="auto" height="120" layout="fixed-height" src="https://api.example/related.json"><div fallback><h4>{self.ui["related"]}</h4>{fallback}</div></amp-list></div>""",
            f'<div class="callout">“{escape(story.pull)}”</div>' if story.pull else "",
            f"""<div class="inset"><p>{escape(writer.write("newsletter"))}</p><form method="post" action-xhr="https://api.example/join" target="_top"><input type="email" name="mail"><input type="submit" value="{self.ui["subscribe"]}"></form></div>""",
            self._image(story, 1),
            self._ad(writer.write("ad")),
        ]

    def _ad(self, text: str) -> str:
        return (
            '<amp-ad width="300" height="250" type="adnet" data-slot="/1234/mobile/inline">'
            f'<div placeholder class="ad">{self.ui["ad"]}<br>{escape(text)}</div></amp-ad>'
        )

    def _voices(self, comments: Iterable[Comment]) -> str:
        entries = "\n".join(
            f'<div class="voice d{comment.depth}"><b>{escape(comment.user)}</b><i>{self.date(comment.when)}</i>'
            f"<p>{escape(comment.text)}</p></div>"
            for comment in comments
        )
        return f"""<amp-accordion class="voices"><section expanded><h3>{self.ui["comments"]}</h3>
<div>{entries}</div></section></amp-accordion>"""

    def _list(self, stories: Iterable[Story], heading: str) -> str:
        entries = "\n".join(
            f"""{link(self.story_path(story), story.title)}<p>{escape(story.summary)}</p>"""
            for story in stories
        )
        return f'<div class="lists"><h3>{heading}</h3>{entries}</div>'

    def _state(self) -> str:
        data = {
            "stories": [
                {
                    "id": story.number,
                    "headline": story.title,
                    "teaser": story.summary,
                    "read": False,
                }
                for story in self.stories[:40]
            ]
        }
        return f'<amp-state id="feed">{json_script(data, "application/json")}</amp-state>'

    def _frame(self, title: str, main: str, metadata: str = "") -> str:
        entries = "\n".join(f"<li>{link(path, name)}</li>" for name, path in self.menu())
        chips = "".join(link(path, name) for name, path in self.section_menu())
        extensions = "\n".join(
            f'<script async custom-element="amp-{name}" src="https://cdn.example/v0/amp-{name}-0.1.js"></script>'
            for name in EXTENSIONS
        )
        legal = " &bull; ".join(link(path, name) for name, path in self.legal_menu())
        writer = self.writer(title)
        return f"""<!doctype html>
<html ⚡ lang="en">
<head>
<meta charset="utf-8">
<script async src="https://cdn.example/v0.js"></script>
{extensions}
<title>{escape(title)} – {self.title}</title>
<meta name="viewport" content="width=device-width,minimum-scale=1">
<meta name="description" content="{quoted(title)}">
{metadata}
<style amp-custom>{style(self.name)}{style_padding(self.name, 26_000)}</style>
<style amp-boilerplate>{BOILERPLATE}</style>
</head>
<body>
<amp-analytics type="tally"><script type="application/json">{{"vars":{{"account":"CX-1"}},"triggers":{{"view":{{"on":"visible","request":"pageview"}}}}}}</script></amp-analytics>
<amp-consent id="consent" layout="nodisplay"><div id="ask"><p>{escape(writer.write("cookie"))}</p><button on="tap:consent.accept">{self.ui["cookies_ok"]}</button></div></amp-consent>
<amp-sidebar id="menu" layout="nodisplay" side="left"><ul>
{entries}
</ul></amp-sidebar>
{self._state()}
<div class="bar"><span role="button" tabindex="0" on="tap:menu.toggle">&#9776;</span> <a href="/">{self.title}</a></div>
<div class="chips">{chips}</div>
{main}
<div class="small">{legal}<p>{escape(writer.several("legal", 4))}</p><p>{escape(writer.write("support"))}</p></div>
</body>
</html>
"""
