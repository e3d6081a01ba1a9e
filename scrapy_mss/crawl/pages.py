"""Which responses of a crawl are pages, and how a request can skip its page."""

from __future__ import annotations

from typing import Any, TypeGuard

from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Request, Response
from scrapy.http.request import NO_CALLBACK

from scrapy_mss.blocks.fed_text import FedText
from scrapy_mss.metadata import dates
from scrapy_mss.metadata.dates import Moments
from scrapy_mss.pages.addresses import site_of

SKIP_TRAINING = "mss_skip_training"
SKIP_EXTRACTION = "mss_skip_extraction"
RECHECK = "mss_recheck"  # the page is downloaded even if its article needs no recheck
LISTED = "mss_listed"  # the date that a feed or sitemap gives for the page: minutes since 1970
LISTED_MOMENTS = "mss_listed_moments"  # when it says that the page was published, and modified
LISTED_TEXT = "mss_listed_text"  # the text of the page, as the feed has it: a `FedText`
FED = "mss_fed"  # the page whose text the feed has; in the flags of a response that is not one
PARTIAL = "mss_partial"  # the page whose article lacks further pages that could not be downloaded
# A list of the request's site has announced its address; the site and the key of the address.
ANNOUNCED = "mss_announced"
SITE = "mss_site"  # the site that a list belongs to: its validators are used and kept
# In a meta what Scrapy and the handlers of browsers note of a single request.
OF_ONE_REQUEST = frozenset(
    "_dont_cache _scheme_proxy cache_timestamp cached_response depth download_latency "
    "is_start_request playwright_page playwright_security_details redirect_reasons redirect_times "
    "redirect_ttl redirect_urls retry_times".split()
)
OF_PROXY = ("proxy", "_auth_proxy")  # in a meta
PROXY_LOGIN = "Proxy-Authorization"  # which Scrapy takes out of it
OK = 200
NOT_MODIFIED = 304


class PrivateHostError(IgnoreRequest):
    """A request is dropped because its host is not one of the public web."""


def is_page(response: Response, request: Request | None) -> TypeGuard[HtmlResponse]:
    """Whether a spider asked for *response*, by *request*, and it is a whole HTML page."""
    return (
        request is not None
        and isinstance(response, HtmlResponse)
        and response.status == OK
        and request.callback is not NO_CALLBACK
    )


def requested_url(response: Response) -> str:
    """The address that was asked for, if *response* was redirected from there; else empty."""
    asked = response.request.meta.get("redirect_urls") if response.request is not None else None
    first = asked[0] if isinstance(asked, list | tuple) and asked else ""
    return first if isinstance(first, str) else ""


def first_url(request: Request) -> str:
    """Where *request* was before it was redirected."""
    return str([*request.meta.get("redirect_urls", ()), request.url][0])


def left_site(request: Request | None) -> bool:
    """Whether *request* was redirected to another site."""
    if request is None or not request.meta.get("redirect_urls"):
        return False
    return site_of(first_url(request)) != site_of(request.url)


def inherited_meta(request: Request | None) -> dict[str, Any]:
    """What of the meta of *request* is for other requests of the same article, too.

    Such as a browser, a proxy or the jar of its cookies; neither ours nor what is of one request.
    """
    return {
        key: value
        for key, value in (request.meta if request is not None else {}).items()
        if not is_own(str(key))
    }


def is_own(key: str) -> bool:
    """Whether *key* of a meta is ours, or of one request alone."""
    return key in OF_ONE_REQUEST or key.startswith("mss_")


def proxy_login(request: Request | None) -> dict[str, bytes]:
    """The header of *request* with which its proxy lets it pass, if there is one."""
    login = request.headers.get(PROXY_LOGIN) if request is not None else None
    return {PROXY_LOGIN: login} if login else {}


def listed_moments(response: Response) -> Moments:
    """When the page was published and modified, as a feed or sitemap says."""
    given = response.request.meta.get(LISTED_MOMENTS) if response.request is not None else None
    texts = given if isinstance(given, list | tuple) else ()
    found = [dates.parse(text) if isinstance(text, str) else None for text in texts]
    return Moments(*found[:2])


def listed_text(request: Request | None) -> FedText | None:
    """The text that a feed has of the page."""
    given = request.meta.get(LISTED_TEXT) if request is not None else None
    return given if isinstance(given, FedText) else None


def is_fed(response: Response | None) -> bool:
    """Whether the article of *response* is not that of a page, but that of its feed."""
    return response is not None and response.meta.get(FED) == response.url


def header(response: Response, name: str) -> str:
    """The value of a header of *response*; empty if there is none."""
    value = response.headers.get(name)
    return value.decode("latin-1") if value else ""
