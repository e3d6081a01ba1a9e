"""WARC files of requests and responses, as received.

The format is ISO 28500 (WARC/1.1), written with warcio. Each exchange is a response record and a
request record, each compressed separately and both written at once: a truncated file,
because the crawl was killed or the disk is full, can be read up to there. A file
that has reached its size is followed by a new one.

Our credentials are removed: the headers that contain them, and the user information in
an address. Import this module locally: warcio is an extra.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from datetime import datetime, timezone
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from uuid import uuid4

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from scrapy_mss.files.appending import Appended
from scrapy_mss.files.content_encodings import BEGINNINGS

VERSION: Final = "1.1"
SECRET: Final = frozenset({b"authorization", b"cookie", b"proxy-authorization"})
# What a header is called that says how the body was sent, where that is not how it is stored.
NOT_AS_SENT: Final = b"X-Crawler-"

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request and the response to it; *truncated* says why the body breaks off, if it does."""

    url: str
    at: datetime
    method: str
    request_headers: Headers
    request_body: bytes
    status: int
    headers: Headers
    body: bytes
    address: str = ""  # the IP address of the server
    truncated: str = ""


class WarcFiles:
    """Files in *folder* whose names begin with *prefix*, each at most *largest* bytes.

    Only a single exchange that is larger makes a file larger. There is no file before the first.
    """

    def __init__(self, folder: Path, prefix: str, largest: int) -> None:
        self._folder = folder
        self._prefix = prefix
        self._largest = largest
        self._key = uuid4().hex[:8]  # other crawls may write to the folder
        self._number = 0
        self._file: Appended | None = None

    def add(self, exchange: Exchange) -> int:
        """Write the records of *exchange*; their size in bytes."""
        records = _exchange_records(exchange)
        if self._file is not None and self._file.size + len(records) > self._largest:
            self.close()
        if self._file is None:
            self._file = self._begun()
        self._file.append(records)
        return len(records)

    def close(self) -> None:
        """End the file."""
        if self._file is not None:
            self._file.file.close()
            self._file = None

    def _begun(self) -> Appended:
        second = datetime.now(timezone.utc).strftime("%Y%m%d%H%M%S")
        name = f"{self._prefix}-{second}-{self._number:05}-{self._key}.warc.gz"
        begun = Appended((self._folder / name).open("xb", buffering=0))
        try:
            begun.append(_file_record(name))
        except OSError:
            begun.file.close()
            raise
        self._number += 1
        return begun


def _file_record(name: str) -> bytes:
    """The record that a file begins with."""
    made = io.BytesIO()
    writer = _writer(made)
    about = {
        "software": "scrapy-mss, warcio",
        "format": f"WARC file version {VERSION}",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "description": "Bodies are as they were sent, but for chunks. Status and request lines are "
        "made of what Scrapy keeps of them. Requests are without cookies and authorization. A "
        f"header that does not apply to the stored body is called {NOT_AS_SENT.decode()}...",
    }
    writer.write_record(writer.create_warcinfo_record(name, about))
    return made.getvalue()


def _exchange_records(exchange: Exchange) -> bytes:
    """The records of the response and the request."""
    made = io.BytesIO()
    writer = _writer(made)
    url = without_user(exchange.url)
    fields = {
        "WARC-Date": exchange.at.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "WARC-IP-Address": exchange.address,
        "WARC-Truncated": exchange.truncated,
    }
    response = writer.create_warc_record(
        url,
        "response",
        payload=io.BytesIO(exchange.body),
        length=len(exchange.body),
        http_headers=_Head(_status_line(exchange.status), _honest(exchange)),
        warc_headers_dict={name: value for name, value in fields.items() if value},
    )
    request = writer.create_warc_record(
        url,
        "request",
        payload=io.BytesIO(exchange.request_body),
        length=len(exchange.request_body),
        http_headers=_Head(_request_line(exchange.method, url), _asked(exchange, url)),
    )
    writer.write_request_response_pair(request, response)
    return made.getvalue()


def without_user(url: str) -> str:
    """*url* without a name, a password and a fragment."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="").geturl()


def _status_line(status: int) -> str:
    phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else ""
    return f"HTTP/1.1 {status} {phrase}"


def _request_line(method: str, url: str) -> str:
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return f"{method} {parts.path or '/'}{query} HTTP/1.1"


def _asked(exchange: Exchange, url: str) -> Headers:
    """The headers of the request, and that which the downloader adds."""
    known = [
        (name, value) for name, value in exchange.request_headers if name.lower() not in SECRET
    ]
    if any(name.lower() == b"host" for name, _ in known):
        return known
    return [(b"Host", urlsplit(url).netloc.encode("ascii", "replace")), *known]


def _honest(exchange: Exchange) -> Headers:
    """The headers of the response; those that do not apply to the body are called otherwise."""
    return [
        (name if _applies(name.lower(), value, exchange) else NOT_AS_SENT + name, value)
        for name, value in exchange.headers
    ]


def _applies(name: bytes, value: bytes, exchange: Exchange) -> bool:
    if name == b"transfer-encoding":  # chunks are joined when Scrapy has the body
        return False
    if not exchange.body or exchange.method == "HEAD":
        return True
    if name == b"content-length":
        return value.strip() == str(len(exchange.body)).encode()
    if name == b"content-encoding":  # some download handlers decode bodies, and keep the header
        encoding = value.strip().lower().decode("latin-1")
        return exchange.body.startswith(BEGINNINGS.get(encoding, b""))
    return True


class _Head(StatusAndHeaders):  # type: ignore[misc]
    """Status or request line and headers, byte for byte; warcio's own class takes ASCII alone."""

    def __init__(self, first: str, headers: Headers) -> None:
        super().__init__(first, [])
        lines = [first.encode("ascii", "replace"), *(b"%s: %s" % pair for pair in headers)]
        self._lines = b"".join(b"%s\r\n" % b" ".join(line.splitlines()) for line in lines)

    def compute_headers_buffer(self, _header_filter: object = None) -> None:
        """Have what is written ready; warcio calls this, for names that it could replace."""
        self.headers_buff = self._lines + b"\r\n"


def _writer(file: io.BytesIO) -> WARCWriter:
    return WARCWriter(file, gzip=True, warc_version=VERSION)
