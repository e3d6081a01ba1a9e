"""What a page is beside articles: galleries, videos, recordings, lists and short texts.

Each function looks for one of them, and returns what it saw; empty if it saw nothing.
"""

from __future__ import annotations

import re
from typing import Final

from scrapy_mss.markup.tokens import LINK
from scrapy_mss.pages.addresses import is_list, is_section
from scrapy_mss.pages.page_facts import SHORT, PageFacts, quoted

# Words: of what was kept.
SHORT_AMONG_MANY: Final = 100  # a shorter one that is a small part of its page needs a reason, too
SMALL_PART: Final = 0.1
LARGE_PART: Final = 0.25  # a text that is more of its page has nothing around it that it could list
OF_NOTICE: Final = 10  # all of a page: with fewer it is no article, whatever its address says
OF_MEDIUM: Final = 80  # what stands below a video or a recording
OF_MARKED_MEDIUM: Final = 120  # if two marks say that it is one, also where it declares an article
OF_DECLARED_MEDIUM: Final = 150  # if it declares that it is one, and no article
OF_NOTES: Final = 350  # the notes of an episode
OF_GALLERY: Final = 200  # captions alone, if it is one by its address
MIN_PICTURES: Final = 5
MOSTLY_LINKED: Final = 0.75  # of the words of a list
OF_LONG_CAPTION: Final = 120  # words for each picture, captions of several sentences
OF_PICTURE: Final = 60  # words for each picture of a gallery
OF_TITLED_PICTURE: Final = 30  # if its title alone says that it is one

# --- media ----------------------------------------------------------------------------------------

_GALLERY_TYPES: Final = frozenset({"ImageGallery", "MediaGallery"})  # schema.org
_VIDEO_TYPES: Final = frozenset({"VideoObject", "VideoGallery", "Movie", "TVEpisode", "Clip"})
_AUDIO_TYPES: Final = frozenset({"AudioObject", "RadioEpisode", "Episode"})
_PODCAST_TYPES: Final = frozenset({"PodcastEpisode", "PodcastSeries", "PodcastSeason"})
_RECIPE_TYPES: Final = frozenset({"Recipe"})
LIVE_BLOG_TYPE: Final = "LiveBlogPosting"
_LIST_TYPES: Final = frozenset({"SearchResultsPage"})
_OTHER_TYPES: Final = frozenset({"ContactPage", "JobPosting"})
_LIST_PAGE_TYPES: Final = frozenset({"CollectionPage", "ItemList"})

_VIDEO_WORDS: Final = frozenset("av mediathek video videos watch".split())
_GALLERY_WORDS: Final = frozenset(
    "bilder bildergalerie bildstrecke diaporama diaporamas fotogaleria fotogalerie fotogallery "
    "fotos fotostrecke galeria galerias galerie galeries galleries gallery photo photos "
    "pictures slideshow slideshows".split()
)
_AUDIO_WORDS: Final = frozenset("audio podcast podcasts sounds".split())
# Numbers that begin with what they are of: Deutsche Welle's, in thirty languages, and their like.
_MEDIUM_NUMBER: Final = re.compile(r"(av|g|video|gallery|galerie|fotos?|photos?)-\d{4,}")
_OF_VIDEO: Final = ("av", "video")

# Where podcasts are found; the page of a podcast names several and has links to them.
_DIRECTORY_NAMES: Final = re.compile(
    r"(i ?tunes|apple podcasts|spotify|google ?(?:play|podcasts)|stitcher|overcast|deezer|pocket ?"
    r"casts|amazon music|audible|castbox|ivoox|podimo|rss|яндекс.музык\w)\b|喜马拉雅|小宇宙",
    re.IGNORECASE,
)
_DIRECTORY_CUES: Final = ("Spotify", "Apple", "iTunes")  # one of which hardly a podcast leaves out
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

_PLAYERS: Final = tuple(  # the last is Drupal's
    "<video <amp-video youtube.com/embed/ player.vimeo.com/ /media/oembed?url=".split()
)
_AUDIO_PLAYERS: Final = tuple(
    "<audio <amp-audio open.spotify.com/embed embed.podcasts.apple.com embed.acast.com "
    "player.simplecast.com player.megaphone.fm omny.fm/ w.soundcloud.com/player "
    "art19.com/shows html5-player.libsyn.com buzzsprout.com/".split()
)

# A `<body>` that is named after the template. WordPress names the format of a post there:
# https://developer.wordpress.org/advanced-administration/wordpress/post-formats/
_TEMPLATE: Final = re.compile(
    r"""<body\s[^>]{0,300}?class=["'][^"']{0,500}?\b(?:"""
    r"single-format-(?P<format>video|audio)|(?P<gallery>gallery|slideshow|galerie|bildergalerie))\b"
)

# Titles that begin with what the page is: “Video: …”, “Watch: …”, “Fotostrecke: …”.
_VIDEO_TITLE: Final = re.compile(
    r"\[?(?:video|vídeo|vidéo|watch|видео|wideo|视频|視頻|動画)\s*[^\w\s]", re.IGNORECASE
)
_GALLERY_TITLE: Final = re.compile(
    r"(?:gallery|galerie|galería|galeria|bildergalerie|fotostrecke|in pictures|pictures|photos"
    r"|fotos|en images|diaporama|фоторепортаж|图集|图片)\s*[^\w\s]"
    r"|.*\b(?:in (?:pictures|bildern|photos)|en (?:imágenes|images|fotos))\b",
    re.IGNORECASE,
)


def _medium_number(facts: PageFacts) -> str:
    found = map(_MEDIUM_NUMBER.fullmatch, facts.own_url.parts[0])
    return next((each[1] for each in found if each), "")


def _gallery_number(facts: PageFacts) -> str:
    number = _medium_number(facts)
    return "" if number in _OF_VIDEO else number


def _in_path(facts: PageFacts, words: frozenset[str]) -> str:
    """Which of *words* is a part of the path of the page's address."""
    found = next((each for each in facts.own_url.parts[0] if each in words), "")
    return f"/{found}/" if found else ""


def _template(facts: PageFacts, group: str) -> str:
    found = _TEMPLATE.search(facts.source)
    return "" if found is None else found[group] or ""


def gallery(facts: PageFacts) -> str:
    """Pictures with hardly more than captions, or the type or the address of a gallery."""
    captions = _captions(facts)
    if captions:
        return captions
    if facts.declarations.has_article_type:
        return ""
    declared = _gallery_number(facts) or facts.declared(_GALLERY_TYPES)
    if declared:
        return "" if facts.declares_article else declared
    place = _in_path(facts, _GALLERY_WORDS)
    is_essay = facts.declares_article or facts.n_words >= OF_GALLERY
    return _template(facts, "gallery") if place and is_essay else place


def _captions(facts: PageFacts) -> str:
    """Pictures with hardly a word besides captions, or with few and the mark of a gallery.

    What the page declares is not asked: galleries are articles to many a system.
    """
    if not facts.likely or facts.n_pictures < MIN_PICTURES:
        return ""
    if facts.n_words >= OF_LONG_CAPTION * facts.n_pictures:
        return ""
    pictures = f"{facts.n_pictures} pictures"
    if facts.n_words - facts.n_captions < SHORT:
        return f"{pictures} with captions"
    if facts.n_words >= OF_PICTURE * facts.n_pictures:
        return ""
    mark = (
        facts.declared(_GALLERY_TYPES)
        or _gallery_number(facts)
        or _in_path(facts, _GALLERY_WORDS)
        or _template(facts, "gallery")
    )
    if mark:
        return f"{pictures}, {mark}"
    titled = _GALLERY_TITLE.match(facts.title)
    is_titled = titled and facts.n_words < OF_TITLED_PICTURE * facts.n_pictures
    return f"{pictures}, {quoted(titled[0])}" if titled and is_titled else ""


def video(facts: PageFacts) -> str:
    """The type or the address of a video."""
    if facts.n_words >= OF_DECLARED_MEDIUM:
        return ""
    number = _medium_number(facts)
    declared = facts.declared(_VIDEO_TYPES) or facts.declared_in_graph("video")
    place = (number if number in _OF_VIDEO else "") or _in_path(facts, _VIDEO_WORDS)
    if not facts.declares_article:
        if facts.n_words < OF_MEDIUM and (declared or place):
            return declared or place
        if facts.n_words < OF_DECLARED_MEDIUM and declared and place:
            return f"{declared}, {place}"
    if facts.n_words >= OF_MARKED_MEDIUM:
        return ""
    template = _template(facts, "format")
    titled = _VIDEO_TITLE.match(facts.title)
    named = place or (template if template == "video" else "") or (titled and quoted(titled[0]))
    shown = declared or _first(facts, _PLAYERS)
    return f"{named}, {shown}" if named and shown else ""


def audio(facts: PageFacts) -> str:
    """The type of a recording, or two marks of one; three of what is declared to be an article."""
    found = facts.declared(_PODCAST_TYPES) or _podcast(facts)
    if found and not facts.declarations.has_article_type:
        return found
    is_article = facts.declarations.has_article_type
    if facts.n_words >= OF_NOTES:
        return ""
    place = _in_path(facts, _AUDIO_WORDS)
    declared = facts.declared(_AUDIO_TYPES) or facts.declared_in_graph("music")
    if facts.n_words < OF_MEDIUM and not is_article and (declared or place):
        return declared or place
    named = place or ("audio" if _template(facts, "format") == "audio" else "")
    listed = _directories(facts)
    if not named and not listed:
        return ""
    marks = (named, listed, declared or _first(facts, _AUDIO_PLAYERS))
    seen = [each for each in marks if each]
    is_long_article = is_article and facts.n_words >= OF_MARKED_MEDIUM
    return ", ".join(seen) if len(seen) > (2 if is_long_article else 1) else ""


def _first(facts: PageFacts, marks: tuple[str, ...]) -> str:
    source = facts.declarations.source
    return next((each for each in marks if each in source), "")


def _directories(facts: PageFacts) -> str:
    """Where a podcast is found, as the beginning or the end of its notes says."""
    text = facts.text[:TOP] + facts.text[-TOP:]
    if not any(cue in text for cue in _DIRECTORY_CUES):
        return ""
    named = {each.casefold() for each in _DIRECTORY_NAMES.findall(text)}
    return ", ".join(sorted(named)) if len(named) >= MIN_DIRECTORIES else ""


def _podcast(facts: PageFacts) -> str:
    named = _directories(facts) if "podcast" in facts.title.casefold() else ""
    if not named:
        return ""
    source = facts.declarations.source
    linked = [any(host in source for host in hosts) for hosts in _DIRECTORIES]
    return named if sum(linked) >= MIN_DIRECTORIES else ""


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


# --- services -------------------------------------------------------------------------------------

OF_SERVICE: Final = 180
OF_DECLARED_SERVICE: Final = 250
OF_SERVICE_AT_ADDRESS: Final = 500
# Parts of paths of pages that are no news: what the site offers, and the site itself.
_SERVICE_WORDS: Final = frozenset(
    "agb agenda calendar careers contact contacto contacts datenschutz event events impressum job "
    "jobs kontakt newsletter newsletters privacy quiz quizzes recetas recette recettes recipe "
    "recipes rezept rezepte stellen stellenangebote termine terms weather wetter".split()
)
_OF_TODAY: Final = ('"viewport"', "'viewport'", '"og:', "'og:")
# German law wants offers of work to name all sexes: (m/w/d), in English (m/f/d).
_OFFER_OF_WORK: Final = re.compile(r"\((?:m|w|f|d|x)(?:/(?:m|w|f|d|x|i)){2,3}\)", re.IGNORECASE)


def offer_of_work(facts: PageFacts) -> str:
    """The title of an offer of work."""
    found = _OFFER_OF_WORK.search(facts.title)
    return "" if found is None or facts.declarations.has_article_type else found[0]


def service_address(facts: PageFacts) -> str:
    """The address of a service, of a page without a reason to be an article."""
    place = _in_path(facts, _SERVICE_WORDS)
    is_long = facts.n_words >= OF_SERVICE_AT_ADDRESS
    return "" if not place or is_long or facts.has_reason else place


# Ways to reach somebody: addresses of e-mail, and telephone numbers.
_MAIL: Final = re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}")
_TELEPHONE: Final = re.compile(r"(?:\+|\b0)\d[\d ()/.-]{6,20}\d\b")
MIN_WAYS: Final = 3


def contacts(facts: PageFacts) -> str:
    """How many ways to reach somebody are in a few words without an author or a date."""
    if not facts.likely or facts.n_words >= OF_DECLARED_SERVICE or "@" not in facts.text:
        return ""
    if facts.declarations.has_article_type or facts.is_published:
        return ""
    n_mails, n_calls = len(_MAIL.findall(facts.text)), len(_TELEPHONE.findall(facts.text))
    is_contact = n_mails and n_mails + n_calls >= MIN_WAYS
    return f"{n_mails} e-mail addresses and {n_calls} telephone numbers" if is_contact else ""


def never_published(facts: PageFacts) -> str:
    """How short a page of today is that has neither an author nor a date.

    It is none that declares to be an article in JSON-LD, nor has the address or the title of one.
    """
    declared = facts.declarations
    if not facts.likely or facts.n_words >= OF_DECLARED_SERVICE or facts.all_words < SHORT:
        return ""
    if declared.has_article_type or facts.has_telling_address:
        return ""
    seen = min(declared.own_types, default="")
    has_reason = facts.declares_article or facts.has_headline or facts.n_words >= OF_SERVICE
    if not (seen or has_reason) and any(cue in facts.source for cue in _OF_TODAY):
        seen = f"{facts.n_words} words"
    return "" if not seen or facts.is_published else seen


# Of the text line by line: items are its answers, and numbers those of a table.
QUESTION_MARKS: Final = ("?", "\N{FULLWIDTH QUESTION MARK}")
MIN_QUESTIONS: Final = 3
MIN_ANSWERS: Final = 2
MOST_OF_ANSWER: Final = 40  # characters
MIN_CELLS: Final = 15
MOST_OF_CELL: Final = 15  # characters


def quiz(facts: PageFacts) -> str:
    """Questions, each before a list of short answers, and no more besides."""
    if not facts.likely or not any(mark in facts.text for mark in QUESTION_MARKS):
        return ""
    *before_items, _ = facts.text.split("\n- ")  # a pattern takes ten times as long
    asking = (each.rstrip("\n").endswith(QUESTION_MARKS) for each in before_items)
    if sum(asking) < MIN_QUESTIONS:
        return ""
    lines = [line for line in facts.text.splitlines() if line]
    answers = [line.startswith("- ") and len(line) <= MOST_OF_ANSWER for line in lines]
    ends = (line.endswith(QUESTION_MARKS) and not line.startswith("- ") for line in lines)
    n_questions = sum(
        is_question and answers[at : at + MIN_ANSWERS] == [True] * MIN_ANSWERS
        for at, is_question in enumerate(ends, 1)
    )
    is_quiz = n_questions >= MIN_QUESTIONS and 2 * (n_questions + sum(answers)) > len(lines)
    return f"{n_questions} questions with answers" if is_quiz else ""


def table_alone(facts: PageFacts) -> str:
    """Lines as short as the cells of a table, and hardly a word besides."""
    if not facts.likely or facts.n_words >= OF_DECLARED_SERVICE:
        return ""
    lines = facts.text.replace("\t", "\n").splitlines()
    cells = [line for line in lines if 0 < len(line) <= MOST_OF_CELL]
    is_table = len(cells) >= MIN_CELLS and facts.n_words - len(" ".join(cells).split()) < SHORT
    return f"{len(cells)} cells" if is_table else ""


# --- short texts and lists ------------------------------------------------------------------------


def short(facts: PageFacts) -> str:
    """How short a text is that has no reason to be an article."""
    few, share = facts.n_words, facts.n_words / max(facts.all_words, 1)
    is_short = few < SHORT and share < LARGE_PART
    is_among_many = few < SHORT_AMONG_MANY and share < SMALL_PART and not facts.has_headline
    needs_reason = is_short or is_among_many
    is_notice = facts.all_words < OF_NOTICE and not facts.declares_article
    if is_notice or (needs_reason and not facts.has_reason):
        return f"{few:,} of {facts.all_words:,} words"
    return ""


def short_with_player(facts: PageFacts) -> str:
    """The player of a video beside a short text."""
    return _first(facts, _PLAYERS) if short(facts) else ""


def links_alone(facts: PageFacts) -> str:
    """How much of a short text is in links, if that is nearly all."""
    if not facts.likely or facts.n_words >= OF_DECLARED_SERVICE:
        return ""
    n_linked = facts.n_inside(LINK)
    is_list = n_linked > MOSTLY_LINKED * facts.n_words
    return f"{n_linked} of {facts.n_words} words in links" if is_list else ""


def list_of_pages(facts: PageFacts) -> str:
    """The type or the address of a list."""
    if declared := facts.declared(_LIST_TYPES):
        return declared
    if facts.likely:
        return ""
    if declared := facts.declared(_LIST_PAGE_TYPES):
        return declared
    url = facts.own_url
    is_named = url.is_root or is_section(url.url) or is_list(facts.address)
    return url.url if is_named else ""
