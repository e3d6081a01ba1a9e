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

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from scrapy_mss.markup.lazy import lazy
from scrapy_mss.pages.addresses import (
    Address,
    PageUrl,
    address_of,
    is_dated,
    is_headlined,
    is_list,
    is_section,
)
from scrapy_mss.pages.declarations import AUTHOR_CUES, Declarations

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

# Words: of what was kept, and of the whole page.
SHORT: Final = 60  # a shorter text needs a reason to be an article
SHORT_AMONG_MANY: Final = 100  # so does one that is shorter than this, and a small part of its page
SMALL_PART: Final = 0.1
LARGE_PART: Final = 0.25  # a text that is more of its page has nothing around it that it could list
OF_MEDIUM: Final = 80  # what stands below a video or a recording
OF_GALLERY: Final = 200  # captions alone, if it is one by its address
OF_TEASER: Final = 150
OF_WALL: Final = 700  # a page with the purposes of a consent manager
OF_CHALLENGE: Final = 250
OF_SHELL: Final = 40

MAX_DATES: Final = 5  # of one article and some links; lists have one for each of their articles
TITLE_WORDS: Final = 4  # of a headline
HEAD: Final = 30_000  # characters of a source that are searched


@dataclass(frozen=True, eq=False)
class PageFacts:
    """What the signs are read from; all but plain values is looked at when first asked for.

    *text* is what was kept of the page, of *n_words*, all of its text has *all_words*. *likely*
    says that the page classifier takes it for an article.
    """

    declarations: Declarations
    page_url: PageUrl
    title: str
    text: str
    n_words: int
    all_words: int
    likely: bool

    @lazy
    def source(self) -> str:
        """The head of the source."""
        return self.declarations.source[:HEAD]

    @lazy
    def own_url(self) -> PageUrl:
        """The address of the page, or the one that it declares if none is known."""
        return self.page_url if self.page_url.is_known else PageUrl(_canonical(self.source))

    @lazy
    def address(self) -> Address:
        return address_of(self.own_url.url) or Address("", (), "", "", None)

    @lazy
    def names(self) -> frozenset[str]:
        """The pieces of the title in small letters: the page's name, and those of its site."""
        pieces = _BETWEEN_NAMES.split(self.title.casefold())
        return frozenset(" ".join(_NOT_IN_NAMES.sub(" ", piece).split()) for piece in pieces)

    @lazy
    def declares_article(self) -> bool:
        declared = self.declarations
        return declared.has_article_type or "article" in declared.graph_types

    @lazy
    def has_byline_and_date(self) -> bool:
        places = self.declarations.places
        if not any(places[cue] for cue in AUTHOR_CUES):
            return False
        source = self.declarations.source
        return 0 < sum(source.count(cue) for cue in _DATE_CUES) <= MAX_DATES

    @lazy
    def has_reason(self) -> bool:
        """Whether something but its text says that the page is an article."""
        by_address = is_dated(self.address) or is_headlined(self.address)
        return self.declares_article or by_address or self.has_byline_and_date

    @lazy
    def has_headline(self) -> bool:
        """Whether the title has a headline: sections have names of a word or two."""
        return any(len(name.split()) >= TITLE_WORDS for name in self.names)

    def declares(self, types: frozenset[str]) -> bool:
        """Whether the page is of one of *types*, and no article in JSON-LD."""
        own = self.declarations.own_types
        return not (self.declarations.has_article_type or types.isdisjoint(own))

    def declares_in_graph(self, beginning: str) -> bool:
        """Whether its `og:type` has that *beginning*, and it is no article in JSON-LD."""
        if self.declarations.has_article_type:
            return False
        return any(each.startswith(beginning) for each in self.declarations.graph_types)


_HREF: Final = re.compile(r"""\shref\s*=\s*["']?([^"'\s>]+)""")
_BETWEEN_NAMES: Final = re.compile(r"\s+[-–—·»›•:]\s+|\s*\|\s*")  # noqa: RUF001
_NOT_IN_NAMES: Final = re.compile(r"[.!?…]+")
_DATE_CUES: Final = ("<time", "datePublished", "published_time")


def _canonical(source: str) -> str:
    """The address in the `<link>` whose relation is `canonical`; empty if there is none."""
    place = source.find("canonical")
    begin, end = source.rfind("<", 0, max(place, 0)), source.find(">", place)
    if not source.startswith("<link", begin):
        return ""
    found = _HREF.search(source, begin, end)
    return found[1] if found else ""


class Sign(NamedTuple):
    """A row: what kind of page it tells, what it is, and whether a page has it."""

    kind: str
    what: str
    is_of: Callable[[PageFacts], bool]


def kind_of(facts: PageFacts) -> str:
    """The kind of a page: that of the first sign that it has, or what the classifier says."""
    sign = sign_of(facts)
    if sign is not None:
        return sign.kind
    return ARTICLE if facts.likely else OTHER


def sign_of(facts: PageFacts) -> Sign | None:
    """The sign that decides what a page is, if it has one."""
    return next((sign for sign in SIGNS if sign.is_of(facts)), None)


# --- consent --------------------------------------------------------------------------------------

# Hosts and paths of consent pages alone: consent.yahoo.com, guce.oath.com/collectConsent,
# myprivacy.dpgmedia.nl/consent, zeit.de/zustimmung.
_CONSENT_HOSTS: Final = frozenset({"consent", "guce", "myprivacy"})
_CONSENT_PATHS: Final = frozenset(
    "collectconsent consent consent-wall cookie-consent cookiewall cookie-wall privacy-gate "
    "privacy-wall zustimmung".split()
)
MAX_CONSENT_PATH: Final = 2  # parts
_CONSENT_CUE: Final = re.compile(r"(?i)consent|guce|privacy|cookie|zustimmung")

# A consent manager on the page; the addresses are those of the snippets in the vendors' manuals.
_CONSENT_MARK: Final = re.compile(
    r"cdn\.cookielaw\.org|cdn-[a-z]+\.onetrust\.com|onetrust-"  # OneTrust
    r"|sdk\.privacy-center\.org|didomi-"  # Didomi
    r"|\.privacy-mgmt\.com|_sp_\.config|sp_message_"  # Sourcepoint
    r"|app\.usercentrics\.eu|web\.cmp\.usercentrics\.eu|usercentrics-root"  # Usercentrics
    r"|consent\.cookiebot\.|CybotCookiebot"  # Cookiebot
    r"|quantcast\.mgr\.consensu\.org|cmp\.(?:quantcast|inmobi)\.com|qc-cmp2"  # Quantcast Choice
    r"|consent\.trustarc\.com|truste-consent|truste_"  # TrustArc
    r"|\.consentmanager\.net|consentmanager\.mgr\.consensu\.org|cmpbox"  # consentmanager
    r"|fundingchoicesmessages\.google\.com|fc-consent-root|googlefc"  # Google Funding Choices
    r"|cdn\.iubenda\.com|iubenda-cs"  # iubenda
    r"|__tcfapi|cmp-root|cookie-?wall|consent-?wall"  # IAB TCF, and walls of the site's own
)

# What consent managers say to readers, a row an idea; all languages of a row count once. The
# purposes and the legitimate interest are terms of the IAB's framework (TCF v2), which every vendor
# has to name. An article about cookies tells of them, but does not ask its readers for consent.
_CONSENT_PHRASES: Final = tuple(
    re.compile(row, re.IGNORECASE)
    for row in (
        (
            r"(?:our|\d+) (?:\w+ )?partners|unsere \d* ?partner|nos \d* ?partenaires"
            r"|nuestros \d* ?(?:socios|partners)|nostri \d* ?(?:partner|fornitori)"
            r"|onze \d* ?partners|nasi \d* ?(?:zaufani )?partnerzy|nossos \d* ?parceiros"
            r"|våra \d* ?(?:samarbets)?partners|vores \d* ?partnere"
        ),
        (
            r"(?:store|access)[^.]{0,30} information on (?:a|your) device"
            r"|informationen auf (?:ihrem|deinem|einem) (?:end)?gerät"
            r"|informations? (?:stockées )?sur (?:un|votre) (?:appareil|terminal)"
            r"|información (?:almacenada )?en (?:un|su|tu) dispositivo"
            r"|informazioni su(?:l| un)? (?:tuo )?dispositivo"
            r"|informatie op (?:een|je|uw) apparaat|informacji na urządzeniu"
            r"|informações (?:em um|num|no seu) dispositivo|information på (?:en|din) enhet"
        ),
        (
            r"legitimate interest|berechtigtes? interesse|intérêt légitime|interés legítimo"
            r"|interesse legittimo|gerechtvaardigd belang|uzasadnion\w+ interes|interesse legítimo"
            r"|berättigat intresse|legitim interesse"
        ),
        (
            r"(?:accept|reject|agree to|decline) (?:all|cookies)|alle? (?:akzeptieren|ablehnen)"
            r"|tout (?:accepter|refuser)|(?:accepter|refuser) (?:tout|et continuer|les cookies)"
            r"|(?:aceptar|rechazar) (?:todo|todas|y continuar|cookies)"
            r"|(?:accetta|rifiuta) (?:tutt[oi]|e continua|i cookie)"
            r"|alle(?:s)? (?:accepteren|weigeren)|(?:zaakceptuj|akceptuj|odrzuć) wszystk"
            r"|(?:aceitar|rejeitar) (?:tudo|todos|cookies)|(?:godkänn|acceptera|avvisa) alla"
            r"|accept[ée]r alle|zustimmen und weiter"
        ),
        (
            r"(?:manage|change) (?:my |your )?(?:options|preferences|settings|choices|consent)"
            r"|(?:ihre|deine) (?:auswahl|einwilligung|einstellungen|zustimmung|privatsphäre)"
            r"|(?:vos|mes) (?:choix|préférences)|votre (?:choix|consentement|vie privée)"
            r"|(?:sus|tus) (?:preferencias|opciones)|(?:su|tu) (?:consentimiento|privacidad)"
            r"|(?:le tue|le) preferenze|(?:il tuo|il suo) consenso|(?:la tua|tua) privacy"
            r"|(?:je|uw|jouw) (?:voorkeuren|toestemming|keuze|privacy)"
            r"|tw(?:oją|oich|oja|oje) (?:zgod|preferencj|prywatnoś)|(?:suas|as) preferências"
            r"|(?:dina|ditt) (?:val|samtycke|inställningar)|we value your privacy|your privacy"
        ),
    )
)
MIN_PHRASES: Final = 3
_CONSENT_WORDS: Final = (
    "cookie",
    "partn",
    "parten",
    "socios",
    "parceir",
    "fornitor",
)  # one of them


def _has_consent_address(facts: PageFacts) -> bool:
    segments = facts.own_url.parts[0]
    if len(segments) > MAX_CONSENT_PATH or _CONSENT_CUE.search(facts.own_url.url) is None:
        return False
    return facts.address.host in _CONSENT_HOSTS or not _CONSENT_PATHS.isdisjoint(segments)


def _asks_for_consent(facts: PageFacts) -> bool:
    if facts.all_words > OF_WALL or facts.declares_article or facts.has_byline_and_date:
        return False
    said = (facts.text or facts.source).casefold()
    if not any(word in said for word in _CONSENT_WORDS):
        return False
    n_phrases = sum(phrase.search(said) is not None for phrase in _CONSENT_PHRASES)
    return n_phrases >= MIN_PHRASES and _CONSENT_MARK.search(facts.source) is not None


# --- challenges -----------------------------------------------------------------------------------

# What only a challenge has. Not `/cdn-cgi/challenge-platform/`, `js.datadome.co`, `_pxAppId`,
# `_Incapsula_Resource?SWJIYLWA` or `challenge.js` of AWS alone: they are on the pages that they
# protect, too (as trackers of detectors tell: microlinkhq/is-antibot 74, mvanhorn/
# cli-printing-press 3712, germondai/trawl 33 and 82).
_CHALLENGE_MARK: Final = re.compile(
    r"_cf_chl_opt|cf-browser-verification|cf-challenge-running|cf-error-details"  # Cloudflare
    r"|sec-if-cpt-container|/_sec/cp_challenge/|errors\.edgesuite\.net|bm-verify"  # Akamai
    r"|captcha-delivery\.com"  # DataDome
    r"|px-captcha|captcha\.px-cdn\.net|captcha\.px-cloud\.net"  # PerimeterX, now HUMAN
    r"|Incapsula incident ID|_Incapsula_Resource\?[CS]WUDNSAI"  # Imperva
    r"|gokuProps|captcha\.awswaf\.com"  # AWS WAF
    r"|KPSDK"  # Kasada
)
# What forms have, too, and challenges where there is hardly a word besides.
_CAPTCHA_MARK: Final = re.compile(
    r"hcaptcha\.com|h-captcha"  # hCaptcha
    r"|google\.com/recaptcha|recaptcha\.net|g-recaptcha"  # reCAPTCHA
    r"|challenges\.cloudflare\.com|cf-turnstile"  # Cloudflare's Turnstile
    r"|arkoselabs\.com|funcaptcha"  # Arkose
)
_CHALLENGE_NAMES: Final = frozenset(
    (
        "access denied|access to this page has been denied|are you a robot|attention required|"
        "bist du ein mensch|challenge page|checking your browser|einen moment|"
        "human verification|just a moment|nur einen moment|pardon our interruption|"
        "please wait|robot or human|security check|sind sie ein roboter|un instant|"
        "un momento|vérification de sécurité|verify you are human|you have been blocked|"
        "zugriff verweigert"
    ).split("|")
)


def _is_challenge(facts: PageFacts) -> bool:
    if facts.all_words > OF_CHALLENGE or facts.declares_article:
        return False
    if not facts.names.isdisjoint(_CHALLENGE_NAMES):
        return True
    is_marked = _CHALLENGE_MARK.search(facts.source) is not None
    is_bare = facts.all_words < SHORT and not facts.has_reason
    return is_marked or (is_bare and _CAPTCHA_MARK.search(facts.source) is not None)


# --- errors and services --------------------------------------------------------------------------

_ERROR_NAME: Final = re.compile(
    r"(?:error |fehler |erreur |errore )?(?:40[134]|410|50[0234])(?: error| not found| forbidden)?"
    r"|(?:page|seite|site|article) (?:not found|nicht gefunden)|not found"
    r"|(?:the )?page (?:you requested )?(?:cannot|can't|could not) be found"
    r"|page (?:introuvable|non trouvée)|(?:la )?página no encontrada|pagina non trovata"
    r"|pagina niet gevonden|strona nie (?:została )?znaleziona|página não encontrada"
    r"|sidan hittades inte|siden (?:blev )?ikke fundet|страница не найдена|页面不存在"
    r"|ページが見つかりません|bad gateway|service unavailable|internal server error"
)
# Names of pages of a site about itself.
_SERVICE_NAMES: Final = frozenset(
    (
        "about|about us|advertise with us|agb|aviso legal|condizioni d'uso|contact|"
        "contact us|contacto|contattaci|contatti|cookie policy|datenschutz|"
        "datenschutzerklärung|impressum|kontakt|mentions légales|nous contacter|"
        "política de privacidad|privacy policy|qui sommes-nous|quiénes somos|subscribe|"
        "terms and conditions|terms of service|terms of use|über uns"
    ).split("|")
)


def _is_error(facts: PageFacts) -> bool:
    if facts.all_words > OF_CHALLENGE or facts.declares_article:
        return False
    return any(_ERROR_NAME.fullmatch(name) for name in facts.names)


def _is_service(facts: PageFacts) -> bool:
    is_named = not facts.names.isdisjoint(_SERVICE_NAMES)
    return is_named and not facts.declares_article


# --- shells ---------------------------------------------------------------------------------------

# What a page says to readers without scripts: the texts of `create-react-app` and `vue-cli`, and
# their like.
_NEEDS_SCRIPTS: Final = re.compile(
    r"(?:enable|requires?|need|activate|without|turn on) java ?script|java ?script (?:enabled|is "
    r"(?:required|disabled))|aktivieren sie java ?script|activer (?:le )?java ?script"
    r"|habilit[ae] java ?script|active java ?script|abilita(?:re)? java ?script"
    r"|включите java ?script|启用 ?java ?script|java ?scriptを有効",
    re.IGNORECASE,
)


def _is_shell(facts: PageFacts) -> bool:
    if facts.n_words >= SHORT or "<script" not in facts.source:
        return False
    if facts.all_words < OF_CHALLENGE and _NEEDS_SCRIPTS.search(facts.text) is not None:
        return True
    is_empty = facts.n_words < OF_SHELL // 2 or not facts.has_reason
    return facts.all_words < OF_SHELL and is_empty


# --- media ----------------------------------------------------------------------------------------

_GALLERY_TYPES: Final = frozenset({"ImageGallery", "MediaGallery"})  # schema.org
_VIDEO_TYPES: Final = frozenset({"VideoObject", "VideoGallery", "Movie", "TVEpisode", "Clip"})
_AUDIO_TYPES: Final = frozenset({"AudioObject", "RadioEpisode", "Episode"})
_PODCAST_TYPES: Final = frozenset({"PodcastEpisode", "PodcastSeries", "PodcastSeason"})
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


def _is_at(words: frozenset[str]) -> Callable[[PageFacts], bool]:
    return lambda facts: not words.isdisjoint(facts.own_url.parts[0])


_is_at_video, _is_at_gallery, _is_at_audio = map(
    _is_at, (_VIDEO_WORDS, _GALLERY_WORDS, _AUDIO_WORDS)
)


def _is_gallery(facts: PageFacts) -> bool:
    if facts.declarations.has_article_type:
        return False
    is_numbered = _medium_number(facts) not in ("", "av", "video")
    if is_numbered or facts.declares(_GALLERY_TYPES):
        return not facts.declares_article
    if not _is_at_gallery(facts):
        return False
    is_essay = facts.declares_article or facts.n_words >= OF_GALLERY
    return not is_essay or _GALLERY_TEMPLATE.search(facts.source) is not None


def _is_video(facts: PageFacts) -> bool:
    if facts.n_words >= OF_MEDIUM or facts.declares_article:
        return False
    is_numbered = _medium_number(facts) in ("av", "video")
    is_declared = facts.declares(_VIDEO_TYPES) or facts.declares_in_graph("video")
    return is_numbered or is_declared or _is_at_video(facts)


def _is_audio(facts: PageFacts) -> bool:
    if facts.declarations.has_article_type:
        return False
    if facts.declares(_PODCAST_TYPES) or _is_podcast(facts):
        return True
    is_declared = facts.declares(_AUDIO_TYPES) or facts.declares_in_graph("music")
    return facts.n_words < OF_MEDIUM and (is_declared or _is_at_audio(facts))


def _is_podcast(facts: PageFacts) -> bool:
    if "podcast" not in facts.title.casefold():
        return False
    named = {each.casefold() for each in _DIRECTORY_NAMES.findall(facts.text[:TOP])}
    if len(named) < MIN_DIRECTORIES:
        return False
    source = facts.declarations.source
    linked = [any(host in source for host in hosts) for hosts in _DIRECTORIES]
    return sum(linked) >= MIN_DIRECTORIES


def _is_recipe(facts: PageFacts) -> bool:
    return not facts.declares_article and facts.declares(frozenset({"Recipe"}))


# --- teasers --------------------------------------------------------------------------------------

# A paywall's script or element on the page, as the vendors' manuals have them.
_PAYWALL_MARK: Final = re.compile(
    r"tinypass\.com|piano\.io/|piano-|tp-container"  # Piano
    r"|assets\.poool\.fr|poool-widget"  # Poool
    r"|zephr-|\.zephr\.com|blaize"  # Zephr, now of Zuora
    r"|leaky[-_]paywall"  # Leaky Paywall
    r"|js\.pelcro\.com|pelcro-"  # Pelcro
    r"|laterpay"  # LaterPay
    r"|\.zuora\.com"  # Zuora
    r"|evolok"  # Evolok
    r"|mppglobal\.com|mpp-"  # MPP Global
    r"|steadyhq\.com|steady-paywall|steady_paywall"  # Steady
    r"""|["' _-]pay-?wall|["' _-]regwall"""  # of the site's own
)
_NOT_FREE: Final = re.compile(r'"isAccessibleForFree"\s*:\s*"?[Ff]alse')
_CUT: Final = re.compile(r"(?:…|\.\.\.|[^\W_]|,)[\s\])]*\Z")  # no end of a sentence
_ELLIPSES: Final = ("…", "...")
MAX_OFFER: Final = 300  # characters at the end of a text
# What stands below the text, and is kept with it.
_CONTINUES: Final = re.compile(
    r"(?:continue|keep) reading|(?:subscribe|sign in|log in|register) to (?:read|continue)"
    r"|read the (?:full|whole|rest of)|(?:to|and) read (?:the )?(?:full|more|on)|subscribers only"
    r"|weiter ?lesen|jetzt (?:abonnieren|testen)|lire la suite|réservé aux abonnés|abonnez-vous"
    r"|seguir leyendo|solo para suscriptores|suscr[íi]b(?:ete|ase)|continua a leggere"
    r"|riservato agli abbonati|abbonati|verder lezen|lees verder|czytaj dalej"
    r"|continue (?:lendo|a ler)|läs vidare|læs videre|les videre",
    re.IGNORECASE,
)


def _is_teaser(facts: PageFacts) -> bool:
    if facts.n_words >= OF_TEASER or not facts.text:
        return False
    source = facts.declarations.source
    continues = _CONTINUES.search(facts.text[-MAX_OFFER:]) is not None
    is_cut = continues or _CUT.search(facts.text) is not None
    if is_cut and "isAccessibleForFree" in source and _NOT_FREE.search(source) is not None:
        return True
    is_broken_off = continues or facts.text.rstrip("])").endswith(_ELLIPSES)
    return is_broken_off and _PAYWALL_MARK.search(source) is not None


# --- short texts and lists ------------------------------------------------------------------------


def _is_short(facts: PageFacts) -> bool:
    """Whether a text is short without a reason to be an article."""
    few, share = facts.n_words, facts.n_words / max(facts.all_words, 1)
    is_short = few < SHORT and share < LARGE_PART
    is_among_many = few < SHORT_AMONG_MANY and share < SMALL_PART and not facts.has_headline
    return (is_short or is_among_many) and not facts.has_reason


def _is_short_with_medium(facts: PageFacts) -> bool:
    source = facts.declarations.source
    return _is_short(facts) and any(player in source for player in _PLAYERS)


def _is_list(facts: PageFacts) -> bool:
    if facts.likely:
        return facts.declares(_LIST_TYPES)
    url = facts.own_url
    is_named = url.is_root or is_section(url.url) or is_list(facts.address)
    return is_named or facts.declares(_LIST_TYPES)


SIGNS: Final = (
    Sign(CONSENT, "the address of consent pages", _has_consent_address),
    Sign(CHALLENGE, "few words, and the name or the mark of a challenge", _is_challenge),
    Sign(CONSENT, "a request for consent, and the mark of a consent manager", _asks_for_consent),
    Sign(ERROR, "few words, and the name of an error", _is_error),
    Sign(SHELL, "scripts, and hardly a word besides", _is_shell),
    Sign(
        LIVE_BLOG,
        "declared as LiveBlogPosting",
        lambda facts: facts.likely and "LiveBlogPosting" in facts.declarations.own_types,
    ),
    Sign(VIDEO, "few words, and the type or the address of a video", _is_video),
    Sign(GALLERY, "the type or the address of a gallery", _is_gallery),
    Sign(AUDIO, "the type or the address of a recording, or links to podcasts", _is_audio),
    Sign(OTHER, "declared as a recipe, and not as an article", _is_recipe),
    Sign(
        OTHER, "declared as a form or an offer of work", lambda facts: facts.declares(_OTHER_TYPES)
    ),
    Sign(OTHER, "the name of a page of the site about itself", _is_service),
    Sign(TEASER, "few words, and declared not to be free, or cut by a paywall", _is_teaser),
    Sign(VIDEO, "few words without a reason to be an article, and a video", _is_short_with_medium),
    Sign(LIST, "the address or the type of a list", _is_list),
    Sign(OTHER, "few words without a reason to be an article", _is_short),
)
