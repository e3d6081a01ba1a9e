"""What a page is: the signs, each alone, and what they must not take for one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss import Extractor
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.pages.addresses import PageUrl
from scrapy_mss.pages.declarations import Declarations
from scrapy_mss.pages.kinds import KINDS, SIGNS, SIGNS_OF_ANY, verdict_of
from scrapy_mss.pages.page_facts import PageFacts
from scrapy_mss.pages.walls import _CONSENT_PHRASES, OF_CHALLENGE, PAYWALL_MARK, paywall_mark

PAGES = Path(__file__).parent / "pages"
STORY = "https://news.example.com/2024/05/14/the-old-bridge-is-closed-again"
PODCAST = "https://a.example/podcasts/17"
CONTACTS = "Ann Lee: 01632 960 123, ann@paper.example. Ben Roe: +44 1632 960124, ben@paper.example."
SOMEWHERE = "https://news.example.com/17"


def facts(source: str = "", url: str = SOMEWHERE, n_words: int = 300, **values: Any) -> PageFacts:
    """A page of 300 words of text and 700 words in all, which the classifier takes for an article.

    It declares nothing but what is in its *source*.
    """
    tokens = tokenize("rain " * n_words)
    known: dict[str, Any] = {
        "tokens": tokens,
        "kept": tokens.is_word,
        "text": "It rains.",
        "title": "",
        "all_words": 700,
        "likely": True,
        "requested": "",
    }
    return PageFacts(declarations=Declarations(source), page_url=PageUrl(url), **known | values)


def test_each_sign_is_of_a_known_kind_and_says_what_it_is() -> None:
    assert {sign.kind for sign in SIGNS} <= set(KINDS)
    assert len({sign.what for sign in SIGNS}) == len(SIGNS)


def test_signs_that_long_texts_are_not_asked_for_see_nothing_in_them() -> None:
    few = [sign for sign in SIGNS if sign not in SIGNS_OF_ANY]
    cases = [each.read_text(encoding="utf-8") for each in PAGES.glob("*/source.html")]
    short, long = (
        {sign.what for sign in few for source in cases if sign.sees(facts(source, n_words=n))}
        for n in (OF_CHALLENGE // 5, OF_CHALLENGE + 1)
    )

    assert short
    assert not long


@pytest.mark.parametrize(("likely", "kind"), [(True, "article"), (False, "other")])
def test_without_a_sign_the_classifier_decides(kind: str, *, likely: bool) -> None:
    assert verdict_of(facts(likely=likely)).kind == kind


def ld(types: str) -> str:
    return f'<script type="application/ld+json">{{"@type": {types}}}</script>'


@pytest.mark.parametrize(
    ("source", "values", "kind"),
    [
        (ld('"LiveBlogPosting"'), {}, "live_blog"),
        (ld('"ImageGallery"'), {}, "gallery"),
        (ld('"VideoObject"'), {"n_words": 40}, "video"),
        (ld('"PodcastEpisode"'), {}, "audio"),
        (ld('"Recipe"'), {}, "other"),
        (ld('"ContactPage"'), {}, "other"),
        (ld('"SearchResultsPage"'), {}, "list"),
        ('<meta property="og:type" content="video.other">', {"n_words": 40}, "video"),
        ("", {"url": "https://a.example/videos/17", "n_words": 40}, "video"),
        (ld('"VideoObject"'), {"url": "https://a.example/videos/17", "n_words": 140}, "video"),
        ("", {"url": "https://a.example/fotostrecke/hafen", "n_words": 90}, "gallery"),
        ("", {"url": "https://a.example/podcasts/17", "n_words": 40}, "audio"),
        ("", {"url": "https://consent.example.com/"}, "consent"),
        ("", {"url": "https://a.example/zustimmung?von=/"}, "consent"),
        ("", {"title": "Impressum | Hafenbote"}, "other"),
        ("", {"title": "404 - Hafenbote", "n_words": 90}, "error"),
        ("", {"title": "Just a moment...", "all_words": 30}, "challenge"),
        ("", {"n_words": 40}, "other"),
        ("", {"title": "429 Too Many Requests", "all_words": 30}, "challenge"),
        ("", {"title": "Pflegekraft (m/w/d) | Hafenbote"}, "other"),
        ("", {"title": "Datenschutz | Hafenbote"}, "other"),
        ("", {"url": "https://a.example/rezepte/17"}, "other"),
        ("", {"text": CONTACTS, "n_words": 90, "url": STORY}, "other"),
        (ld('"WebPage"'), {"n_words": 200}, "other"),
        ('<meta name="viewport">', {"n_words": 150, "title": "Fahrrad | Hafenbote"}, "other"),
        ("<audio src=a>", {"url": PODCAST, "n_words": 300}, "audio"),
        (
            ld('"NewsArticle"') + "<audio src=a>",
            {"url": PODCAST, "n_words": 200, "text": "Hear us on Spotify, Deezer and iTunes."},
            "audio",
        ),
        ("<video src=a>", {"title": "Video: Der Hafen brennt", "n_words": 100}, "video"),
        ("<video src=a>", {"n_words": 40}, "video"),
        ("", {"url": "https://a.example/tag/hafen", "likely": False}, "list"),
    ],
)
def test_a_sign_decides(source: str, values: dict[str, Any], kind: str) -> None:
    assert verdict_of(facts(source, **values)).kind == kind


def test_a_verdict_says_which_sign_decided_and_what_it_saw() -> None:
    challenge = verdict_of(facts(title="Just a moment... | Hafenbote", all_words=30))
    teaser = verdict_of(
        facts("steadyhq.com", text="Nobody knew.\n\nKeep reading", n_words=90, url=STORY)
    )

    assert challenge.reason == (
        "few words, and the name or the mark of a challenge: “just a moment”"
    )
    assert teaser.seen == "“keep reading”, “steadyhq.com”"
    assert verdict_of(facts()).reason == "as the page classifier takes it"


@pytest.mark.parametrize(
    ("source", "values"),
    [
        (ld('"NewsArticle"') + ld('"VideoObject"'), {"n_words": 40}),
        (ld('"NewsArticle"') + ld('"Recipe"'), {}),
        ('<meta property="og:type" content="article">', {"n_words": 40}),
        ('<meta property="og:type" content="article"><span class="byline">' + ld('"Recipe"'), {}),
        ("", {"url": STORY, "n_words": 40}),
        ('<span class="byline">Ann Lee</span><time>', {"n_words": 40}),
        (f'<link rel="canonical" href="{STORY}">', {"url": "", "n_words": 40}),
        ("", {"n_words": 12, "all_words": 14}),
        ("", {"url": "https://cmp.schools.example/mayors_letter.asp"}),
        ("", {"url": "https://a.example/videos/17"}),
        ("", {"url": "https://a.example/photos/17"}),
        ("", {"title": "Contact: what the film got right | Hafenbote"}),
        (ld('"WebPage"') + '<meta property="article:published_time">', {"n_words": 200}),
        (ld('"WebPage"'), {"n_words": 200, "url": STORY}),
        ('<meta name="viewport">', {"n_words": 150, "title": "Nobody knows who paid for it"}),
        ("<video src=a>", {"title": "Video: Der Hafen brennt", "n_words": 200}),
        ("<video src=a>", {"title": "Video killed the radio star", "n_words": 100}),
        ("<audio src=a>", {"n_words": 200}),
        (ld('"NewsArticle"') + "<audio src=a>", {"url": PODCAST, "n_words": 200}),
        ('<span class="byline">', {"text": CONTACTS, "n_words": 90}),
        ("", {"title": "Why 404 is a number that everybody knows", "all_words": 90}),
    ],
)
def test_what_has_a_reason_to_be_an_article_is_one(source: str, values: dict[str, Any]) -> None:
    assert verdict_of(facts(source, **values)).kind == "article"


MARKS = (
    "cdn.cookielaw.org __tcfapi _cf_chl_opt captcha-delivery.com g-recaptcha px-captcha gokuProps "
    "KPSDK cdn.tinypass.com poool-widget steady-paywall"
)


def test_the_marks_of_vendors_do_not_make_a_wall_of_an_article() -> None:
    assert verdict_of(facts(MARKS)).kind == "article"


@pytest.mark.parametrize(
    ("source", "text", "kind"),
    [
        ('"isAccessibleForFree": false', "The mayor said that the", "teaser"),
        ('"isAccessibleForFree":"False"', "It rains. Subscribe to read on.", "teaser"),
        ("steadyhq.com", "Nobody knew …", "teaser"),
        ('"isAccessibleForFree": false', "It rains.", "article"),
        ("steadyhq.com", "It rains.", "article"),
        ("", "Nobody knew …", "article"),
    ],
)
def test_a_teaser_is_cut_and_has_a_paywall(source: str, text: str, kind: str) -> None:
    assert verdict_of(facts(source, text=text, n_words=100, url=STORY)).kind == kind


GONE = "https://www.news.example.com/2024/05/14/the-old-bridge-is-closed-again"
HOME = "https://news.example.com/"
BACK = "https%3A%2F%2Fwww.news.example.com%2F2024%2F05%2F14%2Fthe-old-bridge-is-closed-again"


@pytest.mark.parametrize(
    ("requested", "url", "kind"),
    [
        (GONE, HOME, "list"),
        (GONE, f"{HOME}?utm_source=feed", "list"),
        (GONE, f"{HOME}en/", "list"),
        (f"{HOME}17", HOME, "list"),
        (GONE, "https://other.example/", "list"),
        (GONE, f"{HOME}cookies/wall?back={BACK}", "consent"),
        (
            GONE,
            f"https://privacy.example.net/gate?to=%2Fx%3Fback%3D{BACK.replace('%', '%25')}",
            "consent",
        ),
        (GONE, "https://login.example.net/?from=17", "other"),
        (GONE, f"{HOME}anmelden?back={BACK}", "other"),
        (GONE, "https://casino.example/offers/17", "other"),
    ],
)
def test_a_redirect_away_from_the_article_decides(requested: str, url: str, kind: str) -> None:
    found = verdict_of(facts(url=url, title="Welcome", requested=requested))

    assert (found.kind, found.seen) == (kind, url)
    assert found.sign.startswith("redirected to")


@pytest.mark.parametrize(
    ("requested", "url", "title"),
    [
        ("http://news.example.com/a", "https://www.news.example.com/a/", "Welcome"),
        ("https://sho.rt/x7", "https://news.example.com/17", "Welcome"),
        ("https://sho.rt/x7", HOME, "Welcome"),
        (GONE, f"{GONE}?cookies={BACK}", "Welcome"),
        (GONE, "https://new.example/17", "The old bridge is closed again"),
        (GONE, "https://new.example/bridge-closed-again-17", "Welcome"),
        (GONE, "https://new.example/17", "Старый мост снова закрыт"),
        ("https://feeds.example.net/~r/news/17", "https://news.example.com/17", "Welcome"),
        (f"{HOME}login", f"{HOME}login/17", "Welcome"),
        (HOME, f"{HOME}en", "Welcome"),
    ],
)
def test_a_redirect_to_the_article_itself_decides_nothing(
    requested: str, url: str, title: str
) -> None:
    assert verdict_of(facts(url=url, title=title, requested=requested)).kind == "article"


def test_a_front_page_that_declares_itself_an_article_is_one() -> None:
    assert verdict_of(facts(ld('"NewsArticle"'), url=HOME, requested=GONE)).kind == "article"


def kept(html: str) -> PageFacts:
    """A page that declares an article, all of whose *html* was kept."""
    tokens = tokenize(ld('"NewsArticle"') + html)
    return facts(tokens.source, tokens=tokens, kept=np.ones(len(tokens), np.bool_))


def pictures(paragraph: str) -> PageFacts:
    """Six pictures with captions, each with a *paragraph* below."""
    one = f"<figure><img src=a><figcaption>The harbour on Monday</figcaption></figure>{paragraph}"
    return kept(one * 6)


def test_pictures_with_captions_alone_are_a_gallery_whatever_is_declared() -> None:
    assert verdict_of(pictures("")).kind == "gallery"


def test_pictures_with_a_text_between_them_are_an_article() -> None:
    assert verdict_of(pictures(f"<p>{'The mayor came to the harbour. ' * 5}</p>")).kind == "article"


@pytest.mark.parametrize(("sentence", "kind"), [("", "list"), ("It opens in May. " * 3, "article")])
def test_links_alone_are_a_list_whatever_is_declared(sentence: str, kind: str) -> None:
    links = "<li><a href=/a>Who owns the old cinema on Mill Street</a></li>"
    assert verdict_of(kept(links * 9 + sentence * 3)).kind == kind


def test_a_page_without_an_address_has_the_one_that_it_declares() -> None:
    source = '<link rel=canonical href="https://x.example/?a=1&amp;p=2">'

    assert facts(source, "").own_url.url == "https://x.example/?a=1&p=2"


@pytest.mark.parametrize("path", ["/12345", "/?id=12345", "/2/12345"])
def test_an_address_that_is_a_number_alone_costs_an_article_nothing(path: str) -> None:
    source = (PAGES / "very-short-news" / "source.html").read_text(encoding="utf-8")
    bare, unknown = (Extractor().extract(source, url) for url in (f"https://a.example{path}", ""))

    assert (bare.kind, bare.probability) == (unknown.kind, unknown.probability)


PAYWALLS = (
    "tinypass.com piano.io/ piano- tp-container assets.poool.fr poool-widget zephr- .zephr.com "
    "blaize leaky-paywall leaky_paywall js.pelcro.com pelcro- laterpay .zuora.com evolok "
    "mppglobal.com mpp- steadyhq.com steady-paywall -paywall _pay-wall 'regwall"
).split()


@given(st.lists(st.sampled_from([*PAYWALLS, *(mark[1:] for mark in PAYWALLS), " ", "piano"])))
def test_the_mark_of_a_paywall_is_found_by_the_words_of_all(pieces: list[str]) -> None:
    source = "".join(pieces)
    found, first = paywall_mark(source), PAYWALL_MARK.search(source)

    assert (found and found.span()) == (first and first.span())
    assert all(paywall_mark(mark) for mark in PAYWALLS)


def test_phrases_of_consent_are_in_small_letters_as_what_they_are_sought_in() -> None:
    assert [
        each.pattern for each in _CONSENT_PHRASES if each.pattern != each.pattern.casefold()
    ] == []
