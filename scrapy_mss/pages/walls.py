"""What stands in place of an article: consent, challenges, errors, shells, paywalls, redirects.

Each function looks for one of them, and returns what it saw; empty if it saw nothing.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from scrapy_mss.pages.addresses import SLUG, Address, is_headlined, site_of, split_url
from scrapy_mss.pages.declarations import comparable_url, occurrences
from scrapy_mss.pages.page_facts import (
    OF_DECLARED_TEASER,
    SHORT,
    PageFacts,
    address_at,
    is_telling,
    quoted,
)

# Words: of what was kept, and of the whole page.
OF_TEASER: Final = 150
OF_WALL: Final = 700  # a page with the purposes of a consent manager
OF_CHALLENGE: Final = 250
OF_SHELL: Final = 40

# --- consent --------------------------------------------------------------------------------------

# Hosts and paths of consent pages alone: consent.yahoo.com, guce.oath.com/collectConsent,
# myprivacy.dpgmedia.nl/consent, zeit.de/zustimmung.
_CONSENT_HOSTS: Final = frozenset({"consent", "guce", "myprivacy"})
_CONSENT_PATHS: Final = frozenset(
    "collectconsent consent consent-wall cookie-consent cookiewall cookie-wall privacy-gate "
    "privacy-wall zustimmung".split()
)
MAX_CONSENT_PATH: Final = 2  # parts

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
# Repeats are bounded: what is searched may be one word of any length. It is in small letters, as
# these are: case by case, looking for them takes four times as long.
_CONSENT_PHRASES: Final = tuple(
    re.compile(row)
    for row in (
        (
            r"(?:our|\d{1,4}) (?:\w{1,30} )?partners|unsere \d* ?partner|nos \d* ?partenaires"
            r"|nuestros \d* ?(?:socios|partners)|nostri \d* ?(?:partner|fornitori)"
            r"|onze \d* ?partners|nasi \d* ?(?:zaufani )?partnerzy|nossos \d* ?parceiros"
            r"|våra \d* ?(?:samarbets)?partners|vores \d* ?partnere|наши \d* ?партн|合作伙伴"
        ),
        (
            r"(?:store|access)[^.]{0,30} information on (?:a|your) device"
            r"|informationen auf (?:ihrem|deinem|einem) (?:end)?gerät"
            r"|informations? (?:stockées )?sur (?:un|votre) (?:appareil|terminal)"
            r"|información (?:almacenada )?en (?:un|su|tu) dispositivo"
            r"|informazioni su(?:l| un)? (?:tuo )?dispositivo"
            r"|informatie op (?:een|je|uw) apparaat|informacji na urządzeniu"
            r"|informações (?:em um|num|no seu) dispositivo|information på (?:en|din) enhet"
            r"|информаци\w{1,4} на (?:вашем )?устройстве|设备上[^。]{0,8}(?:存储|访问)"
        ),
        (
            r"legitimate interest|berechtigtes? interesse|intérêt légitime|interés legítimo"
            r"|interesse legittimo|gerechtvaardigd belang|uzasadnion\w{1,4} interes"
            r"|interesse legítimo|berättigat intresse|legitim interesse|законн\w{1,4} интерес"
            r"|合法(?:利益|权益)"
        ),
        (
            r"(?:accept|reject|agree to|decline) (?:all|cookies)|alle? (?:akzeptieren|ablehnen)"
            r"|tout (?:accepter|refuser)|(?:accepter|refuser) (?:tout|et continuer|les cookies)"
            r"|(?:aceptar|rechazar) (?:todo|todas|y continuar|cookies)"
            r"|(?:accetta|rifiuta) (?:tutt[oi]|e continua|i cookie)"
            r"|alle(?:s)? (?:accepteren|weigeren)|(?:zaakceptuj|akceptuj|odrzuć) wszystk"
            r"|(?:aceitar|rejeitar) (?:tudo|todos|cookies)|(?:godkänn|acceptera|avvisa) alla"
            r"|accept[ée]r alle|zustimmen und weiter|(?:принять|отклонить) вс"
            r"|全部(?:接受|拒绝)|(?:接受|拒绝)(?:全部|所有)"
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
            r"|(?:изменить|отозвать) (?:свой|своё|ваше?) (?:выбор|согласие)"
            r"|更改您的选择|管理(?:选项|偏好)"
        ),
    )
)
MIN_PHRASES: Final = 3  # beside a mark
MIN_PHRASES_ALONE: Final = 4
# One of them is said.
_CONSENT_WORDS: Final = "cookie partn parten socios parceir fornitor партн 合作伙伴".split()


def consent_address(facts: PageFacts) -> str:
    """The address of a consent page."""
    segments, url = facts.own_url.parts[0], facts.own_url.url
    if len(segments) > MAX_CONSENT_PATH:
        return ""
    is_named = not _CONSENT_PATHS.isdisjoint(segments)
    if not is_named and any(host in url.lower() for host in _CONSENT_HOSTS):  # as in few addresses
        is_named = facts.address.host in _CONSENT_HOSTS
    return url if is_named and not is_headlined(facts.address) else ""


def consent_request(facts: PageFacts) -> str:
    """What a consent manager asks readers for, and its mark."""
    if facts.all_words > OF_WALL or facts.declares_article:
        return ""
    said = (facts.text or facts.source).casefold()
    if not any(word in said for word in _CONSENT_WORDS) or facts.has_byline_and_date:
        return ""
    phrases = [found[0] for each in _CONSENT_PHRASES if (found := each.search(said))]
    mark = facts.marked(_CONSENT_MARK) if len(phrases) >= MIN_PHRASES else ""
    is_request = mark or len(phrases) >= MIN_PHRASES_ALONE
    return ", ".join(filter(None, (*map(quoted, phrases), mark))) if is_request else ""


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
    r"|/\.well-known/ddos-guard/"  # DDoS-Guard
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
        "please wait|request rejected|robot or human|security check|sind sie ein roboter|"
        "too many requests|429 too many requests|un instant|un momento|vérification de sécurité|"
        "verify you are human|you have been blocked|zugriff verweigert|安全验证|访问验证|人机验证"
    ).split("|")
)


def challenge(facts: PageFacts) -> str:
    """The title of a challenge, or its mark."""
    if facts.all_words > OF_CHALLENGE or facts.declares_article:
        return ""
    if name := facts.named(_CHALLENGE_NAMES):
        return quoted(name)
    if mark := facts.marked(_CHALLENGE_MARK):
        return mark
    is_bare = facts.all_words < SHORT and not facts.has_reason
    return facts.marked(_CAPTCHA_MARK) if is_bare else ""


# --- errors and services --------------------------------------------------------------------------

_ERROR_NAME: Final = re.compile(
    r"(?:error |fehler |erreur |errore )?(?:40[134]|410|50[0234])(?: error| not found| forbidden)?"
    r"|(?:page|seite|site|article) (?:not found|nicht gefunden)|not found"
    r"|(?:the )?page (?:you requested )?(?:cannot|can't|could not) be found"
    r"|page (?:introuvable|non trouvée)|(?:la )?página no encontrada|pagina non trovata"
    r"|pagina niet gevonden|strona nie (?:została )?znaleziona|página não encontrada"
    r"|sidan hittades inte|siden (?:blev )?ikke fundet|страница не найдена|页面不存在"
    r"|(?:this )?page is no longer available|something went wrong|es ist ein fehler aufgetreten"
    r"|(?:dieser artikel|diese seite) ist nicht mehr verfügbar|ha ocurrido un error"
    r"|este contenido ya no está disponible|(?:страница|материал) удал[её]н\w?|произошла ошибка"
    r"|该(?:文章|页面|内容)已被?删除|系统繁忙|页面没有找到"
    r"|ページが見つかりません|bad gateway|service unavailable|internal server error"
)
# Names of pages of a site about itself, with or without “our” and the site's name behind them.
_SERVICE_NAMES: Final = re.compile(
    r"(?:our )?(?:about(?: us| this (?:newspaper|site))?|advertise(?: with us)?|contact(?: us)?"
    r"|cookie policy|privacy (?:policy|notice|statement)|subscribe|newsletters?|legal notice"
    r"|terms(?: (?:and conditions|of (?:service|use))|)?|choose your subscription)"
    r"|agb|allgemeine geschäftsbedingungen|nutzungsbedingungen|datenschutz(?:erklärung|hinweise)?"
    r"|impressum|kontakt|über uns|abo(?:nnement)?(?: wählen)?"
    r"|mentions légales|nous contacter|qui sommes-nous|politique de confidentialité"
    r"|conditions générales d'utilisation|aviso legal|contacto|quiénes somos"
    r"|política de (?:privacidad|cookies)|términos (?:y condiciones|de uso)|elige tu suscripción"
    r"|contattaci|contatti|chi siamo|condizioni d'uso|informativa sulla privacy"
    r"|контакты|о (?:редакции|проекте|нас|компании)"  # noqa: RUF001 - a Cyrillic word
    r"|пользовательское соглашение"
    r"|политика конфиденциальности|правила использования|оформить подписку"
    r"|联系我们|关于我们|服务条款|隐私政策|用户协议|版权声明|会社概要|お問い合わせ|利用規約"
    r"|プライバシーポリシー"
)


def error(facts: PageFacts) -> str:
    """The title of an error."""
    if facts.n_words > OF_CHALLENGE or facts.declares_article:
        return ""
    names = filter(_ERROR_NAME.fullmatch, facts.names)
    return next(map(quoted, sorted(names)), "")


def service(facts: PageFacts) -> str:
    """The title of a page of the site about itself.

    Systems give all pages the `og:type` of an article; JSON-LD that knows better is believed.
    """
    declared = facts.declarations
    if facts.declares_article and (declared.has_article_type or not declared.own_types):
        return ""
    names = filter(_SERVICE_NAMES.fullmatch, facts.names)
    return next(map(quoted, sorted(names)), "")


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


def shell(facts: PageFacts) -> str:
    """What a page says to readers without scripts, or how little it says."""
    if facts.n_words >= SHORT or "<script" not in facts.source:
        return ""
    needs = _NEEDS_SCRIPTS.search(facts.text) if facts.all_words < OF_CHALLENGE else None
    if needs is not None:
        return quoted(needs[0])
    if notice := _cookie_notice(facts):
        return notice
    is_empty = facts.n_words < OF_SHELL // 2 or not facts.has_reason
    if facts.all_words < OF_SHELL and is_empty:
        return f"{facts.all_words} words"
    may_be_frame = facts.all_words < OF_CHALLENGE and (facts.likely or facts.has_reason)
    n_words = facts.all_words - int(facts.linked.sum()) if may_be_frame else OF_SHELL
    return f"{n_words} words outside links" if n_words < OF_SHELL else ""


def _cookie_notice(facts: PageFacts) -> str:
    """The notice of cookies that is all that was found on a page."""
    said = facts.text.casefold()
    if "cookie" not in said:
        return ""
    phrases = [found[0] for each in _CONSENT_PHRASES if (found := each.search(said))]
    is_notice = phrases and (len(phrases) > 1 or facts.n_words < OF_SHELL)
    return ", ".join(map(quoted, phrases)) if is_notice else ""


# --- teasers --------------------------------------------------------------------------------------

# A paywall's script or element on the page, as the vendors' manuals have them. Each has one of the
# words, which one look at the source finds in a fiftieth of the time.
_PAYWALL_WORDS: Final = tuple(
    "tinypass piano tp-container poool zephr blaize paywall pay-wall pelcro laterpay zuora evolok "
    "mppglobal mpp- steady regwall".split()
)
MAX_BEFORE_WORD: Final = 16  # characters of a mark
PAYWALL_MARK: Final = re.compile(
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
_CLOSING: Final = "]) \t\n\xa0"  # behind an ellipsis
MAX_OFFER: Final = 300  # characters at the end of a text
MAX_END: Final = 40  # of them, to be shown
# What stands below the text, and is kept with it, in small letters.
_OFFERS: Final = tuple(
    (
        "continue reading|keep reading|subscribe to read|subscribe to continue|sign in to read|"
        "sign in to continue|log in to read|log in to continue|register to read|"
        "register to continue|read the full|read the whole|read the rest of|to read full|"
        "to read more|to read on|to read the full|and read more|and read on|subscribers only|"
        "weiterlesen|weiter lesen|jetzt abonnieren|jetzt testen|lire la suite|"
        "réservé aux abonnés|réservée aux abonnés|abonnez-vous|seguir leyendo|"
        "solo para suscriptores|suscríbete|suscribete|suscríbase|suscribase|continua a leggere|"
        "riservato agli abbonati|abbonati|verder lezen|lees verder|czytaj dalej|continue lendo|"
        "continue a ler|läs vidare|læs videre|les videre|jatka lukemista|číst dál|"
        "olvasás folytatása|continuă lectura|okumaya devam|συνεχίστε την ανάγνωση|читать далее|"
        "читати далі|доступно по подписке|доступно только по подписке|続きを読む|会員限定記事|"
        "继续阅读|閱讀全文|阅读全文|계속 읽기|이어서 읽기|for subscribers only|читайте дальше|"
        "только подписчикам|оформите подписку|订阅后|登录后查看|仅供订阅"
    ).split("|")
)


def teaser(facts: PageFacts) -> str:
    """The end of a text that is cut, and the paywall that cuts it."""
    if facts.n_words >= OF_DECLARED_TEASER or not facts.text:
        return ""
    source = facts.declarations.source
    offer = offer_at_end(facts.text)
    end = quoted(offer or facts.text[-MAX_END:])
    is_cut = bool(offer) or breaks_off(facts.text)
    if is_cut and "isAccessibleForFree" in source and _NOT_FREE.search(source) is not None:
        return f"{end}, not free as declared"
    is_marked = (offer or has_ellipsis(facts.text)) and facts.n_words < OF_TEASER
    mark = paywall_mark(source) if is_marked else None
    return "" if mark is None else f"{end}, {quoted(mark[0])}"


def offer_at_end(text: str) -> str:
    """What offers to go on at the end of *text*."""
    end = text[-MAX_OFFER:].lower()
    for offer in _OFFERS:  # a generator takes twice as long
        if offer in end:
            return offer
    return ""


def has_ellipsis(text: str) -> bool:
    """Whether *text* ends in an ellipsis."""
    return text.rstrip(_CLOSING).endswith(_ELLIPSES)


def breaks_off(text: str) -> bool:
    """Whether *text* ends without the end of a sentence."""
    return _CUT.search(text, max(len(text) - MAX_OFFER, 0)) is not None


def paywall_mark(source: str) -> re.Match[str] | None:
    """The first mark of a paywall in *source*."""
    firsts = [places[0] for places in occurrences(source, _PAYWALL_WORDS) if places]
    if not firsts:
        return None
    return PAYWALL_MARK.search(source, max(min(firsts) - MAX_BEFORE_WORD, 0))


# --- redirects ------------------------------------------------------------------------------------

# Sites redirect readers to consent pages and logins, and from articles that are gone to their front
# page. Most redirects lead to the page itself, though: those of short links, of the proxies of
# feeds, of sites that have moved. So only addresses count that no article has, and a page of
# another site where nothing about it is of the article that was asked for.

_CONSENT_WORD: Final = re.compile(r"consent|cookie|privacy|gdpr|zustimmung|einwilligung")
_LOGIN_PARTS: Final = frozenset(
    "accedi anmelden anmeldung auth authorize connexion einloggen iniciar-sesion inloggen log-in "
    "login logowanie oauth2 se-connecter sign-in signin sso".split()
)
_LOGIN_HOSTS: Final = frozenset("account accounts auth login myaccount signin sso".split())
_FRONT_PARTS: Final = frozenset("default home index".split())
LANGUAGE: Final = 2  # letters in the address of a front page
LONG_WORD: Final = 5  # letters; shorter words of a headline are in many titles
_WORD: Final = re.compile(r"[^\W\d_]+")


def consent_redirect(facts: PageFacts) -> str:
    """A consent page whose address has the one that was asked for as the way back."""
    if not _is_elsewhere(facts):
        return ""
    split = split_url(facts.page_url.url.lower())
    way_back = unquote(unquote(split.query))  # it may be the query of an address in the query
    is_consent = _CONSENT_WORD.search(f"{split.netloc}{split.path}") is not None
    has_way_back = comparable_url(facts.requested) in way_back
    return facts.page_url.url if is_consent and has_way_back else ""


def login_redirect(facts: PageFacts) -> str:
    """The address of a login."""
    if not _is_elsewhere(facts) or _is_login(facts.requested):
        return ""
    return facts.page_url.url if _is_login(facts.page_url.url) else ""


def front_redirect(facts: PageFacts) -> str:
    """The front page of the same host, or of any, if an article was asked for."""
    if not _is_elsewhere(facts) or facts.declarations.has_article_type:
        return ""
    asked = address_at(facts.requested)
    if _is_front(asked) or not _is_front(facts.address):
        return ""
    is_expected = _host(facts.requested) == _host(facts.page_url.url) or is_telling(asked)
    return facts.page_url.url if is_expected else ""


def site_redirect(facts: PageFacts) -> str:
    """A page of another site that says nothing of the headline that was asked for."""
    if not _is_elsewhere(facts) or facts.has_reason:
        return ""
    if site_of(facts.requested) == site_of(facts.page_url.url):
        return ""
    said = f"{facts.title} {unquote(facts.page_url.url)}".casefold()
    asked = address_at(facts.requested)
    headlines = (part.text for part in asked.parts if part.kind == SLUG)
    words = [word for each in headlines for word in _WORD.findall(each) if len(word) >= LONG_WORD]
    # Where the title is in another script than the address, their words cannot be compared.
    can_compare = is_headlined(asked) and facts.title.isascii()
    is_lost = can_compare and bool(words) and not any(word in said for word in words)
    return facts.page_url.url if is_lost else ""


def _is_elsewhere(facts: PageFacts) -> bool:
    """Whether the page is not the one that was asked for."""
    asked, found = facts.requested, facts.page_url.url
    return bool(asked and found) and comparable_url(asked) != comparable_url(found)


def _host(url: str) -> str:
    return comparable_url(url).partition("/")[0].removeprefix("m.")


def _is_login(url: str) -> bool:
    address = address_at(url)
    return address.host in _LOGIN_HOSTS or any(each.text in _LOGIN_PARTS for each in address.parts)


def _is_front(address: Address) -> bool:
    """Whether *address* is that of a front page, which may be of a language."""
    if not address.parts:
        return not address.key
    text = address.parts[0].text
    is_language = len(text) <= LANGUAGE and text.isalpha()
    return len(address.parts) == 1 and (is_language or text in _FRONT_PARTS)
