"""What a page is: an article, or what else a site answers with, which is no article.

Consent walls, bot challenges, galleries and podcasts come with status 200 and with running text,
and the page classifier takes some of them for articles. ``SIGNS`` is a table of what is certain
enough to say so: the first row that holds decides; what no row knows is what the classifier takes
it for.

No vendor's mark is enough by itself. Consent managers, bot protection and paywalls put their
scripts on every page of a site, articles above all. So marks count on pages of few words alone, and
those are preferred that only the wall itself has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from scrapy_mss.pages import media, walls
from scrapy_mss.pages.page_facts import PageFacts
from scrapy_mss.pages.walls import OF_CHALLENGE

KINDS: Final = (
    ARTICLE := "article",
    LIVE_BLOG := "live_blog",
    GALLERY := "gallery",
    VIDEO := "video",
    AUDIO := "audio",
    LIST := "list",  # fronts, sections, tags, searches
    OTHER := "other",  # recipes, products, contacts, events …
    CONSENT := "consent",
    CHALLENGE := "challenge",
    SHELL := "shell",  # which only JavaScript fills
    TEASER := "teaser",  # the beginning of an article behind a paywall
    ERROR := "error",
)
ARTICLE_KINDS: Final = (ARTICLE, LIVE_BLOG)
WALLS: Final = (CONSENT, CHALLENGE, SHELL)  # what a site may answer with in place of any page

WITHOUT_TEXT: Final = (*WALLS, TEASER, ERROR)  # what stands where the text of an article should


class Sign(NamedTuple):
    """A row: what kind of page it tells, what it is, and what it sees of it on a page."""

    kind: str
    what: str
    sees: Callable[[PageFacts], str]


class Verdict(NamedTuple):
    """The *kind* of a page, the sign that decides, if one does, and what that has *seen*."""

    kind: str
    sign: str = ""
    seen: str = ""

    @property
    def reason(self) -> str:
        """Why the page is of its kind."""
        return f"{self.sign}: {self.seen}" if self.sign else "as the page classifier takes it"


def verdict_of(facts: PageFacts, signs: Sequence[Sign] = ()) -> Verdict:
    """The kind of a page: that of the first of *signs*, or of all, or what the classifier says."""
    for sign in signs or (SIGNS_OF_ANY if facts.n_words > OF_CHALLENGE else SIGNS):
        if seen := sign.sees(facts):
            return Verdict(sign.kind, sign.what, seen)
    return Verdict(ARTICLE if facts.likely else OTHER)


SIGNS: Final = (
    Sign(CONSENT, "the address of consent pages", walls.consent_address),
    Sign(CHALLENGE, "few words, and the name or the mark of a challenge", walls.challenge),
    Sign(
        CONSENT, "a request for consent, and the mark of a consent manager", walls.consent_request
    ),
    Sign(CONSENT, "redirected to a consent page with the way back", walls.consent_redirect),
    Sign(OTHER, "redirected to a login", walls.login_redirect),
    Sign(LIST, "redirected to a front page", walls.front_redirect),
    Sign(ERROR, "few words, and the name of an error", walls.error),
    Sign(SHELL, "scripts, and hardly a word besides", walls.shell),
    Sign(OTHER, "redirected to another site without that headline", walls.site_redirect),
    Sign(LIVE_BLOG, "declared as LiveBlogPosting", media.live_blog),
    Sign(VIDEO, "few words, and marks of a video", media.video),
    Sign(
        GALLERY,
        "pictures with captions alone, or the type or the address of a gallery",
        media.gallery,
    ),
    Sign(AUDIO, "marks of a recording", media.audio),
    Sign(OTHER, "declared as a recipe, and not as an article", media.recipe),
    Sign(OTHER, "declared as a form or an offer of work", media.form_or_offer),
    Sign(OTHER, "an offer of work by its title", media.offer_of_work),
    Sign(OTHER, "ways to reach somebody, without an author or a date", media.contacts),
    Sign(OTHER, "questions with answers to choose from", media.quiz),
    Sign(OTHER, "a table with hardly a word besides", media.table_alone),
    Sign(OTHER, "the name of a page of the site about itself", walls.service),
    Sign(
        OTHER, "the address of a service, without a reason to be an article", media.service_address
    ),
    Sign(TEASER, "few words, and declared not to be free, or cut by a paywall", walls.teaser),
    Sign(
        VIDEO, "few words without a reason to be an article, and a video", media.short_with_player
    ),
    Sign(LIST, "links, and hardly a word besides", media.links_alone),
    Sign(LIST, "the address or the type of a list", media.list_of_pages),
    Sign(OTHER, "few words of a page of today, without an author or a date", media.never_published),
    Sign(OTHER, "few words without a reason to be an article", media.short),
)
# Those that see nothing in texts of more words than `OF_CHALLENGE`, as of most articles.
_OF_FEW_WORDS: Final = (
    *(walls.error, walls.shell, walls.teaser, media.video, media.contacts, media.table_alone),
    *(media.short_with_player, media.links_alone, media.never_published, media.short),
)
SIGNS_OF_ANY: Final = tuple(sign for sign in SIGNS if sign.sees not in _OF_FEW_WORDS)
# Captions, answers, cells of tables and offers of a subscription are on many pages.
REPEATED: Final = tuple(
    sign
    for sign in SIGNS
    if sign.sees in (media.gallery, media.quiz, media.table_alone, walls.teaser)
)
