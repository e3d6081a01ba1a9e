"""Rheinufer-Bote: a German local paper, laid out with tables some decades ago, in ISO-8859-1.

Paragraphs are lines parted by `<br><br>` in a `<font>`, there are neither classes nor headings, and
boxes between the paragraphs are tables. An `<hr>` stands before the readers' letters and one in
the text of longer stories. What the encoding lacks, quotes and dashes, is written as references;
the encoding is declared in the page alone. Date and author are a line of text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from demo_web.content import Comment, Gallery, Listing, Notice, Story
from demo_web.markup import escape, link, quoted, script_padding, style_padding
from demo_web.site import Site, style

FONT = '<font face="Verdana, Arial" size="2">'
SMALL = '<font face="Verdana, Arial" size="1" color="#666666">'
RULED = 12  # stories of more pieces than this have an <hr> in their middle


class RheinuferBote(Site):
    """A paper that never got round to a relaunch."""

    name = "rheinufer-bote"
    title = "Rheinufer-Bote"
    language = "de"
    encoding = "iso-8859-1"
    content_type = "text/html"
    topics = ("council", "transport", "business", "culture")
    pager = "&seite={number}"
    paths: ClassVar[Mapping[str, str]] = {
        "story": "/artikel.php?id={number}",
        "live": "/ticker.php?id={number}",
        "gallery": "/bilder.php?serie={number}",
        "home": "/",
        "section": "/ressort.php?name={key}",
        "tag": "/thema.php?wort={key}",
        "author": "/autor.php?kuerzel={key}",
        "notice": "/haus.php?seite={key}",
    }
    forms: ClassVar[Mapping[str, str]] = {
        "p": "{text}",
        "h": "<b>{text}</b>",
        "li": "&#149; {text}<br>",
        "list": "{text}",
        "post": "{text}<br>",
        "update": "<b>{time} Uhr</b> {text}",
    }

    def list_path(self, kind: str, key: str = "", number: int = 1) -> str:
        """As elsewhere, but the home page has no query that could be continued."""
        return super().list_path(kind, key, number).replace("/&", "/?")

    def story_page(self, story: Story) -> str:
        tags = ", ".join(link(self.list_path("tag", tag.key), tag.label) for tag in story.tags)
        bios = "<br>".join(escape(author.bio) for author in story.authors)
        main = f"""{SMALL}{link(self.list_path("section", story.topic), self.topic(story.topic))} &gt; {self.date(story.published)}</font><br>
<font face="Georgia" size="5" color="#003366"><b>{escape(story.title)}</b></font><br>
<font face="Verdana, Arial" size="2"><i>{escape(story.summary)}</i></font><br><br>
{SMALL}{self.ui["by"]} {self.byline(story.authors)}, {self.date(story.published)}</font><br><br>
{FONT}
{self._text(story)}
</font>
<br><br>{SMALL}{self.ui["tags"]}: {tags}<br>{bios}</font>
<hr noshade size="1">
{self._letters(story.comments)}
{self._teasers(self.related(story, 5, "more"), self.ui["related"])}"""
        return self._frame(story.title, main)

    def listing_page(self, listing: Listing) -> str:
        rows = [(each.title, self.gallery_path(each)) for each in self.galleries] + self.odd_menu()
        links = "<br>\n".join(link(path, name) for name, path in rows)
        main = f"""{FONT}<b>{escape(listing.title)}</b></font><br><br>
{self._teasers(listing.stories, "")}
{self.page_links(listing)}
<hr>{FONT}{links}</font>"""
        return self._frame(listing.title, main)

    def gallery_page(self, gallery: Gallery) -> str:
        cells = [
            f'<td width="50%"><img src="{self.picture_path(number)}" width="260"><br>{SMALL}{escape(caption)}</font></td>'
            for number, caption in enumerate(gallery.captions)
        ]
        rows = "\n".join(
            f"<tr>{''.join(cells[start : start + 2])}</tr>" for start in range(0, len(cells), 2)
        )
        main = f"""{FONT}<b>{escape(gallery.title)}</b><br>{escape(gallery.summary)}</font>
<table border="0" cellpadding="6">{rows}</table>"""
        return self._frame(gallery.title, main)

    def notice_page(self, notice: Notice) -> str:
        text = "<br><br>\n".join(escape(paragraph) for paragraph in notice.paragraphs)
        return self._frame(
            notice.title, f"{FONT}<b>{escape(notice.title)}</b><br><br>{text}</font>"
        )

    # --- parts -------------------------------------------------------------------------------

    def _text(self, story: Story) -> str:
        """The pieces of the text with line breaks, and a box behind every fourth."""
        pieces, boxes = self.pieces(story), self._boxes(story)
        lines = [f"{self._photo(story)}{pieces[0]}"]
        for number, piece in enumerate(pieces[1:], 1):
            box = boxes.pop(0) if number % 4 == 0 and boxes else ""
            rule = "<hr>\n" if len(pieces) > RULED and number == len(pieces) // 2 else ""
            lines.append(f"{box}{rule}{piece}")
        return "<br><br>\n".join(lines)

    def _photo(self, story: Story) -> str:
        source = self.picture_path(story.number)
        return f"""<table align="right" width="220" cellpadding="4"><tr><td><img src="{source}" width="210"><br>{SMALL}{escape(story.captions[0])}</font></td></tr></table>
"""

    def _boxes(self, story: Story) -> list[str]:
        writer = self.writer(str(story.number))
        other = self.related(story, 1, "inline")[0]
        texts = (
            f"{self.ui['ad']}<br><b>{escape(writer.write('ad'))}</b>",
            f"{self.ui['related']}:<br>{link(self.story_path(other), other.title)}<br>{escape(other.summary)}",
            f"{self.ui['newsletter']}<br>{escape(writer.write('newsletter'))}",
            escape(writer.write("support")),
        )
        return [
            f'<table width="100%" bgcolor="#e8eef4" cellpadding="8"><tr><td>{SMALL}{text}</font></td></tr></table>\n'
            for text in texts
        ]

    def _letters(self, comments: Iterable[Comment]) -> str:
        letters = "\n".join(
            f"{FONT}<b>{escape(comment.user)}</b> {SMALL}({self.date(comment.when)})</font><br>{escape(comment.text)}</font><br><br>"
            for comment in comments
        )
        return f'<a name="briefe"></a>{FONT}<b>{self.ui["comments"]}</b></font><br><br>\n{letters}'

    def _teasers(self, stories: Iterable[Story], heading: str) -> str:
        rows = "\n".join(
            f"""<tr><td width="90"><img src="{self.picture_path(story.number)}" width="80"></td><td>{FONT}<b>{link(self.story_path(story), story.title)}</b><br>{escape(story.summary)}</font></td></tr>"""
            for story in stories
        )
        return f'{FONT}<b>{heading}</b></font><table border="0" width="100%">{rows}</table>'

    def _menu(self) -> str:
        return "\n".join(
            f'<tr><td bgcolor="#dde6ee">{FONT}&raquo; {link(path, name)}</font></td></tr>'
            for name, path in self.menu()
        )

    def _head(self, title: str) -> str:
        return f"""<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">
<html lang="de">
<head>
<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">
<title>{self.title}: {escape(title)}</title>
<meta name="keywords" content="{quoted(title)}, Lokalzeitung, Rhein">
<style type="text/css">
<!--
{style(self.name)}
{style_padding(self.name, 5_000)}
-->
</style>
<script language="JavaScript" type="text/javascript">
<!--
{script_padding(self.name, 9_000)}
//-->
</script>
</head>"""

    def _frame(self, title: str, main: str) -> str:
        writer = self.writer(title)
        popular = "<br><br>\n".join(
            link(self.story_path(story), story.title)
            for story in self.chance(title).sample(self.stories, 8)
        )
        legal = " | ".join(link(path, name) for name, path in self.legal_menu())
        return f"""{self._head(title)}
<body bgcolor="#c8d4e0" text="#000000" link="#003366">
<table width="980" align="center" border="0" cellspacing="0" cellpadding="0" bgcolor="#ffffff">
<tr><td colspan="3" bgcolor="#003366" height="70">&nbsp;<font face="Times New Roman" size="6" color="#ffffff"><b>{self.title}</b></font></td></tr>
<tr><td colspan="3" bgcolor="#ffcc00">{SMALL}{escape(writer.write("ad"))}</font></td></tr>
<tr><td width="170"><table width="100%" cellspacing="1" cellpadding="3">
{self._menu()}
</table></td>
<td width="620"><table width="100%" cellpadding="14"><tr><td>
{main}
</td></tr></table></td>
<td width="190"><table width="100%" cellpadding="6"><tr><td bgcolor="#eeeeee">{FONT}<b>{self.ui["most_read"]}</b><br><br>
{popular}</font></td></tr><tr><td>{SMALL}{self.ui["ad"]}<br>{escape(writer.write("ad"))}<br><br>{escape(writer.write("support"))}</font></td></tr></table></td></tr>
<tr><td colspan="3" bgcolor="#dde6ee" align="center" class="klein">{SMALL}{legal}<br>{escape(writer.several("legal", 3))}<br>{escape(writer.write("cookie"))}</font></td></tr>
</table>
<script language="JavaScript" type="text/javascript">
<!--
{script_padding(self.name + "/end", 7_000)}
//-->
</script>
</body>
</html>
"""
