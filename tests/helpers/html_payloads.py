"""Markup that makes a browser run a script or load something, one row a kind.

`CALL` is where a script goes: it calls `top.tripped`, which the page around records. `ADDRESS` is
an address, and a request for it counts as well. A current browser falls for what *trips*, where it
is not sanitized; the rest was written for browsers of the past or needs a reader who is deceived.
"""

from __future__ import annotations

import json
import re
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


_TRIPPING = {
    # Handlers, which need no element of their own.
    "image that fails": "<img src=x: onerror=CALL>",
    "image that fails, spelt oddly": "<IMG\fSRC=x: OnErRoR\n=\n'CALL'>",
    "slashes for blanks": "<img/src='x:'/onerror=CALL>",
    "image by its other name": "<image src=x: onerror=CALL>",
    "quote that is not closed": '<img src="x:" alt=\'" onerror=CALL \' onerror=CALL>',
    "handler without a blank": '<img src="x:"onerror="CALL">',
    "handler in references": "<img src=x: onerror=&#116;op.tripped&lpar;NUMBER&rpar;>",
    "pointer": "<p onmouseover=CALL>Put your pointer here.</p>",
    "click": "<b onclick=CALL>Click me.</b>",
    "focus": "<p tabindex=1 autofocus onfocus=CALL>Focus.</p>",
    "editable focus": "<p contenteditable autofocus onfocus=CALL>Focus.</p>",
    "field with focus": "<input autofocus onfocus=CALL>",
    "details that are open": "<details open ontoggle=CALL><summary>x</summary>y</details>",
    "sound": "<audio src=x: onerror=CALL></audio>",
    "film and source": "<video><source src=x: onerror=CALL></video>",
    "animation": "<style>@keyframes k{}</style><p style='animation:k' onanimationstart=CALL>",
    "body in the text": "<body onload=CALL>",
    "body that scrolls": "<body onpageshow=CALL>",
    "style that is loaded": "<style onload=CALL>p{}</style>",
    # Scripts and documents.
    "script": "<script>CALL</script>",
    "script, spelt oddly": "<ScRiPt/x='>'>CALL</sCrIpT\n>",
    "script of another place": "<script src=ADDRESS></script>",
    "script of data": "<script src='data:text/javascript,CALL'></script>",
    "module": "<script type=module>CALL</script>",
    "script after its end": "<script></script x><script>CALL</script>",
    "frame of a script": "<iframe src='javascript:CALL'></iframe>",
    "frame of its own source": "<iframe srcdoc='&lt;script>CALL&lt;/script>'></iframe>",
    "frame of another place": "<iframe src=ADDRESS></iframe>",
    "object": "<object data=ADDRESS></object>",
    "embedded": "<embed src=ADDRESS>",
    # Addresses.
    "link to a script": "<a href=javascript:CALL>Read on</a>",
    "link with a tab in it": "<a href='java\tscript:CALL'>Read on</a>",
    "link with a line in it": "<a href='java&#10;script&colon;CALL'>Read on</a>",
    "link after a control": "<a href='&#1; javascript:CALL'>Read on</a>",
    "link in capitals": "<a href=' JaVaScRiPt:CALL'>Read on</a>",
    "link of numbers": "<a href='&#0000106avascript:CALL'>Read on</a>",
    "two links in one": "<a href=javascript:CALL href=https://good.example/>Read on</a>",
    "map": "<map name=m><area href=javascript:CALL></map>",
    "poster": "<video poster=ADDRESS></video>",
    "old background": "<table background=ADDRESS><tr><td>x</table>",
    # Other things of a page.
    "style": "<style>@import 'ADDRESS';</style>",
    "style of an element": "<p style='background:url(ADDRESS)'>Text.</p>",
    "style sheet": "<link rel=stylesheet href=ADDRESS>",
    "script to come": "<link rel=modulepreload href=ADDRESS>",
    "going elsewhere": "<meta http-equiv=refresh content='0;url=ADDRESS'>",
    "form": "<form action=javascript:CALL><button>Send</button></form>",
    "button of a form": "<form><button formaction=javascript:CALL>Send</button></form>",
    "image of a form": "<form action=javascript:CALL><input type=image src=x:></form>",
    # Drawings and formulas, where other rules of parsing hold.
    "drawing": "<svg onload=CALL>",
    "drawing with a script": "<svg><script>CALL</script></svg>",
    "script of a drawing, in references": "<svg><script>top&#46;tripped(NUMBER)</script></svg>",
    "drawing that moves": "<svg><animate onbegin=CALL attributeName=x dur=1s /></svg>",
    "page in a drawing": "<svg><foreignObject><img src=x: onerror=CALL></foreignObject></svg>",
    "formula": "<math><mtext><img src=x: onerror=CALL></mtext></math>",
    # What parsers read differently.
    "comment that ends early": "<!-- a --!><img src=x: onerror=CALL> -->",
    "comment that is empty": "<!--><img src=x: onerror=CALL>-->",
    "comment that is nearly empty": "<!---><img src=x: onerror=CALL>-->",
    "comment in a comment": "<!-- <!-- --><img src=x: onerror=CALL> -->",
    "declaration": "<!a '><img src=x: onerror=CALL>'>",
    "instruction": "<?a '><img src=x: onerror=CALL>'?>",
    "section": "<![CDATA[><img src=x: onerror=CALL>]]>",
    "closing tag of a number": "</1 '><img src=x: onerror=CALL>'>",
    "equals sign for a name": '<a ="><img src=x: onerror=CALL>">x</a>',
    "quote in a name": '<p a"><img src=x: onerror=CALL>">x</p>',
    "title": "<title><p title='</title><img src=x: onerror=CALL>'></title>",
    "text field": "<textarea><p title='</textarea><img src=x: onerror=CALL>'></textarea>",
    "old preformatted text": "<xmp><p title='</xmp><img src=x: onerror=CALL>'></xmp>",
    "frame's text": "<iframe><p title='</iframe><img src=x: onerror=CALL>'></iframe>",
    "no embedding": "<noembed><p title='</noembed><img src=x: onerror=CALL>'></noembed>",
    "no frames": "<noframes><p title='</noframes><img src=x: onerror=CALL>'></noframes>",
    "no scripts": "<noscript><p title='</noscript><img src=x: onerror=CALL>'></noscript>",
    "style in a formula": "<math><style><img src=x: onerror=CALL></style></math>",
    "parts of a table": "<table><td><svg><desc><table><img src=x: onerror=CALL></table></svg>",
    "half of a pair": "<img src=x: \ud800 onerror=CALL>",
}
_HARMLESS_TODAY = {
    # Handlers, which need no element of their own.
    "marquee": "<marquee onstart=CALL>Moving.</marquee>",
    # Scripts and documents.
    "script that is not closed": "<script>CALL//",
    "script in a script": "<scr<script>ipt>CALL</scr</script>ipt>",
    "shadow tree": "<div><template shadowrootmode=open><img src=x: onerror=CALL></template></div>",
    "applet": "<applet code=ADDRESS archive=ADDRESS></applet>",
    "frameset": "<frameset onload=CALL><frame src=ADDRESS></frameset>",
    "portal": "<portal src=ADDRESS></portal>",
    # Addresses.
    "link to vbscript": "<a href='vbscript:CALL'>Read on</a>",
    "link to data": "<a href='data:text/html,<script>CALL</script>'>x</a>",
    "link to much blank data": f"<a href='{' ' * 90}data:text/html,x'>x</a>",
    "link with a base": "<base href='javascript:/'><a href='/*/CALL'>x</a>",
    "link that a base leads away": "<base href='//bad.example'><a href=x>x</a>",
    "link that tells": "<a href=https://good.example/ ping=ADDRESS>x</a>",
    "image of a script": "<img src=javascript:CALL>",
    "image of a drawing": "<img src=\"data:image/svg+xml,<svg onload='CALL'/>\">",
    # Other things of a page.
    "page to come": "<link rel=prefetch href=ADDRESS>",
    "policy": "<meta http-equiv=content-security-policy content=\"img-src 'none'\">",
    "names of ours": "<a id=document name=cookie></a><img name=getElementById>",
    "cover": "<div class='modal fixed-top' style='position:fixed;inset:0'>x</div>",
    # Drawings and formulas, where other rules of parsing hold.
    "link of a drawing": "<svg><a xlink:href=javascript:CALL><text y=9>x</text></a></svg>",
    "link that is set": (
        "<svg><a><animate attributeName=href values=javascript:CALL /><text y=9>x</text></a></svg>"
    ),
    "link of a formula": "<math href=javascript:CALL><mi>x</mi></math>",
    # What parsers read differently.
    "section of a drawing": (
        "<svg><![CDATA[</svg>]]><p title='</svg><img src=x: onerror=CALL>'></svg>"
    ),
    "style in a drawing": (
        "<svg><style><img title='</style><img src=x: onerror=CALL>'></style></svg>"
    ),
    "form in a form": (
        "<form><math><mtext></form><form><mglyph><style></math><img src=x: onerror=CALL>"
    ),
    "style in a list of choices": (
        "<select><style></select><img src=x: onerror=CALL></style></select>"
    ),
    "very deep": "<div>" * 600 + "<svg><style><a title='</style><img src=x: onerror=CALL>'>",
    "zero in a name": "<scr\x00ipt>CALL</scr\x00ipt>",
    "prefix": "<svg:script>CALL</svg:script>",
    "long s": "<\u017fcript>CALL</\u017fcript>",
    "written as text": "&lt;img src=x: onerror=CALL&gt;",
    "written as text twice": "&amp;lt;img src=x: onerror=CALL&amp;gt;",
    "text after a stray closing tag": "CALL</script> and on.",
}
OWN = (
    *(Payload(name, markup) for name, markup in _TRIPPING.items()),
    *(Payload(name, markup, trips=False) for name, markup in _HARMLESS_TODAY.items()),
)


def payloads() -> list[Payload]:
    """Our own, and those of the shared folder where there is one."""
    shared = json.loads(SHARED.read_text(encoding="utf-8")) if SHARED.is_file() else {}
    called = ((name, re.sub(r"alert\([12]\)", CALL, text)) for name, text in shared.items())
    return [*OWN, *(Payload(f"shared: {name}", text, trips=False) for name, text in called)]


def aimed(address: str, first: int = 0) -> list[str]:
    """The payloads' markup; each calls `top.tripped`, or asks the *address*, with its number."""
    return [
        payload.aimed(f"top.tripped({n})", f"{address}/{n}").replace("NUMBER", str(n))
        for n, payload in enumerate(payloads(), first)
    ]
