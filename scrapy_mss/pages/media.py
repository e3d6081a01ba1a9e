"""What a page is beside articles: galleries, videos, recordings, lists and short texts.

Each function looks for one of them, and returns what it saw; empty if it saw nothing.
"""

from __future__ import annotations

import re
from typing import Final

from scrapy_mss.pages.addresses import is_list, is_section
from scrapy_mss.pages.page_facts import SHORT, PageFacts

# Words: of what was kept.
SHORT_AMONG_MANY: Final = 100  # a shorter one that is a small part of its page needs a reason, too
SMALL_PART: Final = 0.1
LARGE_PART: Final = 0.25  # a text that is more of its page has nothing around it that it could list
OF_MEDIUM: Final = 80  # what stands below a video or a recording
OF_GALLERY: Final = 200  # captions alone, if it is one by its address

# --- media ----------------------------------------------------------------------------------------

_GALLERY_TYPES: Final = frozenset({"ImageGallery", "MediaGallery"})  # schema.org
_VIDEO_TYPES: Final = frozenset({"VideoObject", "VideoGallery", "Movie", "TVEpisode", "Clip"})
_AUDIO_TYPES: Final = frozenset({"AudioObject", "RadioEpisode", "Episode"})
_PODCAST_TYPES: Final = frozenset({"PodcastEpisode", "PodcastSeries", "PodcastSeason"})
_RECIPE_TYPES: Final = frozenset({"Recipe"})
LIVE_BLOG_TYPE: Final = "LiveBlogPosting"
_LIST_TYPES: Final = frozenset({"SearchResultsPage"})
_OTHER_TYPES: Final = frozenset({"ContactPage", "JobPosting"})

_VIDEO_WORDS: Final = frozenset("av mediathek video videos watch".split())
_GALLERY_WORDS: Final = frozenset(
    "bilder bildergalerie bildstrecke diaporama diaporamas fotogaleria fotogalerie fotogallery "
    "fotos fotostrecke galeria galerias galerie galeries galleries gallery photos "
    "pictures slideshow slideshows".split()
)
_AUDIO_WORDS: Final = frozenset("audio podcast podcasts".split())
# Numbers that begin with what they are of: Deutsche Welle's, in thirty languages, and their like.
_MEDIUM_NUMBER: Final = re.compile(r"(av|g|video|gallery|galerie|fotos?|photos?)-\d{4,}")
_OF_VIDEO: Final = ("av", "video")

# Where podcasts are found; the page of a podcast names several and has links to them.
_DIRECTORY_NAMES: Final = re.compile(
    r"(i ?tunes|apple podcasts|spotify|google ?(?:play|podcasts)|stitcher|overcast|deezer|pocket ?"
    r"casts|amazon music|rss)\b",
    re.IGNORECASE,
)
TOP: Final = 1000  # characters of a text, where a podcast says where it is found
_DIRECTORIES: Final = (
    ("podcasts.apple.com/", "itunes.apple.com/"),
    ("open.spotify.com/show/",),
    ("podcasts.google.com/", "play.google.com/music/listen"),
    ("stitcher.com/",),
    ("overcast.fm/", "pca.st/", "pocketcasts.com/"),
    ("deezer.com/",),
    ("music.amazon.", "audible."),
)
MIN_DIRECTORIES: Final = 3

_PLAYERS: Final = ("<video", "<amp-video")


# A `<body>` that is named after the template; WordPress has `single-format-gallery`.
_GALLERY_TEMPLATE: Final = re.compile(
    r"""<body\s[^>]{0,300}?class=["'][^"']{0,500}?\b(?:gallery|slideshow|galerie|bildergalerie)\b"""
)


def _medium_number(facts: PageFacts) -> str:
    segments = facts.own_url.parts[0]
    found = _MEDIUM_NUMBER.fullmatch(segments[-1]) if segments else None
    return found[1] if found else ""


def _in_path(facts: PageFacts, words: frozenset[str]) -> str:
    """Which of *words* is a part of the path of the page's address."""
    found = next((each for each in facts.own_url.parts[0] if each in words), "")
    return f"/{found}/" if found else ""


def gallery(facts: PageFacts) -> str:
    """The type or the address of a gallery."""
    if facts.declarations.has_article_type:
        return ""
    number = _medium_number(facts)
    declared = number if number not in ("", *_OF_VIDEO) else facts.declared(_GALLERY_TYPES)
    if declared:
        return "" if facts.declares_article else declared
    place = _in_path(facts, _GALLERY_WORDS)
    is_essay = facts.declares_article or facts.n_words >= OF_GALLERY
    return facts.marked(_GALLERY_TEMPLATE) if place and is_essay else place


def video(facts: PageFacts) -> str:
    """The type or the address of a video."""
    if facts.n_words >= OF_MEDIUM or facts.declares_article:
        return ""
    number = _medium_number(facts)
    declared = facts.declared(_VIDEO_TYPES) or facts.declared_in_graph("video")
    return (number if number in _OF_VIDEO else "") or declared or _in_path(facts, _VIDEO_WORDS)


def audio(facts: PageFacts) -> str:
    """The type or the address of a recording, or where a podcast is found."""
    if facts.declarations.has_article_type:
        return ""
    if found := facts.declared(_PODCAST_TYPES) or _podcast(facts):
        return found
    if facts.n_words >= OF_MEDIUM:
        return ""
    declared = facts.declared(_AUDIO_TYPES) or facts.declared_in_graph("music")
    return declared or _in_path(facts, _AUDIO_WORDS)


def _podcast(facts: PageFacts) -> str:
    if "podcast" not in facts.title.casefold():
        return ""
    named = {each.casefold() for each in _DIRECTORY_NAMES.findall(facts.text[:TOP])}
    if len(named) < MIN_DIRECTORIES:
        return ""
    source = facts.declarations.source
    linked = [any(host in source for host in hosts) for hosts in _DIRECTORIES]
    return ", ".join(sorted(named)) if sum(linked) >= MIN_DIRECTORIES else ""


def recipe(facts: PageFacts) -> str:
    """The type of a recipe."""
    return "" if facts.declares_article else facts.declared(_RECIPE_TYPES)


def form_or_offer(facts: PageFacts) -> str:
    """The type of a form, or of an offer of work."""
    return facts.declared(_OTHER_TYPES)


def live_blog(facts: PageFacts) -> str:
    """The type of a live blog that has a text."""
    is_declared = facts.likely and LIVE_BLOG_TYPE in facts.declarations.own_types
    return LIVE_BLOG_TYPE if is_declared else ""


# --- short texts and lists ------------------------------------------------------------------------


def short(facts: PageFacts) -> str:
    """How short a text is that has no reason to be an article."""
    few, share = facts.n_words, facts.n_words / max(facts.all_words, 1)
    is_short = few < SHORT and share < LARGE_PART
    is_among_many = few < SHORT_AMONG_MANY and share < SMALL_PART and not facts.has_headline
    if not (is_short or is_among_many) or facts.has_reason:
        return ""
    return f"{few:,} of {facts.all_words:,} words"


def short_with_player(facts: PageFacts) -> str:
    """The player of a video beside a short text."""
    source = facts.declarations.source
    return next((each for each in _PLAYERS if each in source), "") if short(facts) else ""


def list_of_pages(facts: PageFacts) -> str:
    """The type or the address of a list."""
    if declared := facts.declared(_LIST_TYPES):
        return declared
    url = facts.own_url
    is_named = url.is_root or is_section(url.url) or is_list(facts.address)
    return url.url if is_named and not facts.likely else ""
