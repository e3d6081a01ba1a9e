"""The protocol of the pipes between the crawl and a worker.

A message is its length in four bytes, then that many bytes: first a model without its counts, then
these, then pages, each after what the model has learned meanwhile and with the requested work; each
page gets one response. Messages are JSON, preceded by its length, and followed by large values as
bytes whose names and sizes are in the JSON: the page's HTML and the site memory; the text and HTML
of an article, the arrays of a training example. Parsing megabytes of JSON would block the event
loop with the interpreter's lock. Lone surrogates, which pages can contain, survive.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from io import BytesIO
from typing import IO, Any

import numpy as np

from scrapy_mss.article import ArticleResult
from scrapy_mss.core.labels import Rejection
from scrapy_mss.core.naive_bayes import Observation
from scrapy_mss.items import OPTIONAL_FIELDS, Article, values_of
from scrapy_mss.models.model import Example
from scrapy_mss.sites.context import SiteContext, SiteUpdate
from scrapy_mss.sites.store import packed as packed_memory
from scrapy_mss.sites.store import unpacked as unpacked_memory
from scrapy_mss.wrappers import Reason, Wrapper
from scrapy_mss.wrappers.schema import document_of, read_document

_LENGTH = struct.Struct("<I")
# Why a page has no answer.
ERROR = "error"  # an exception, whose traceback is logged
TIMEOUT = "timeout"  # it took longer than MSS_TIMEOUT, and its worker was killed
MEMORY = "memory"  # it took more memory than a worker may, which its worker did not survive
CRASH = "crash"  # its worker was lost in another way
FAILURES = (ERROR, TIMEOUT, MEMORY, CRASH)

OUT_OF_MEMORY = 12  # the exit code of a worker that a page took too much memory in: that of ENOMEM
READY = b""  # the first message of a worker: pages are answered from now on
_TEXTS = ("text", "html", *OPTIONAL_FIELDS)  # of an article, as large as its page may be
_ASKED = ("url", "example", "article", "further")
_RESULT_FIELDS = tuple(each.name for each in fields(ArticleResult) if each.name != "paragraphs")
CACHED = 256  # wrappers that are kept in both forms; a crawl is at a few sites at a time


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A page, and what is asked of it.

    With a *wrapper* the page is labelled: for a training example, for the article, or for both. An
    article that it misses is read like that of a page without one, unless it drops its misses:
    with what the *visit* knows of the page's site, if sites are remembered. A
    *further* page is one of an article that another page begins. With *emitted*, the paragraphs of
    the page are answered; it has those with which its article was emitted before, if it was.
    """

    html: str
    url: str
    wrapper: Wrapper | None = None
    example: bool = False
    article: bool = True
    further: bool = False
    visit: SiteContext | None = None
    emitted: bytes | None = None

    def to_bytes(self) -> bytes:
        """The request as `from_bytes` reads it."""
        head = {
            "url": self.url,
            "wrapper": _wrapper_text(self.wrapper) if self.wrapper else "",
            "example": self.example,
            "article": self.article,
            "further": self.further,
            "minute": self.visit.minute if self.visit else None,
        }
        parts = {"html": _encoded(self.html)}
        if self.visit is not None:
            parts["memory"] = packed_memory(self.visit.memory)
        if self.emitted is not None:
            parts["emitted"] = self.emitted
        return _packed(head, parts)

    @classmethod
    def from_bytes(cls, data: bytes) -> PageRequest:
        """The request in *data*."""
        head, parts = _unpacked(data)
        wrapper = _wrapper(head["wrapper"]) if head["wrapper"] else None
        visit = None
        if "memory" in parts:
            visit = SiteContext(
                unpacked_memory(bytes(parts["memory"])), head["minute"], head["url"]
            )
        asked = {name: head[name] for name in _ASKED}
        emitted = bytes(parts["emitted"]) if "emitted" in parts else None
        return cls(_decoded(parts["html"]), wrapper=wrapper, visit=visit, emitted=emitted, **asked)


@dataclass(frozen=True, slots=True)
class LabelSummary:
    """What the crawl counts of a labelling; *reason* is why nothing is labelled.

    *selectors* are those of the rule, each with whether it selected what was taken.
    """

    reason: Reason | None
    field_hits: Mapping[str, bool]
    n_tokens: int
    selectors: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """What came of a page: what was asked for, or which of the `FAILURES` it met.

    *seconds* went into the labels and the example; those of the article are in its result.
    *logged* is what a worker has to say meanwhile, levels and messages; one that is *worn* keeps so
    much memory after the page that it is to be replaced. The *update* is for the memory of the
    page's site.
    """

    article: ArticleResult | None = None
    labels: LabelSummary | None = None
    example: Example | Rejection | None = None
    failure: str = ""
    seconds: float = 0.0
    logged: tuple[tuple[int, str], ...] = ()
    worn: bool = False
    update: SiteUpdate | None = None

    def to_bytes(self) -> bytes:
        """The answer as `from_bytes` reads it."""
        example, arrays = _example_parts(self.example)
        article, parts = _article_parts(self.article)
        parts["example"] = arrays
        head = {
            "article": article,
            "labels": _labels_head(self.labels) if self.labels else None,
            "example": example,
            "failure": self.failure,
            "seconds": self.seconds,
            "logged": self.logged,
            "worn": self.worn,
        }
        if self.update is not None:
            head["place"] = self.update.place
            parts["update"] = packed_memory(self.update.added)
        return _packed(head, parts)

    @classmethod
    def from_bytes(cls, data: bytes) -> PageAnswer:
        """The answer in *data*."""
        head, parts = _unpacked(data)
        update = None
        if "update" in parts:
            memory = unpacked_memory(bytes(parts["update"]))
            update = SiteUpdate(memory, head["place"])
        return cls(
            _article_result(head["article"], parts) if head["article"] else None,
            _labels(head["labels"]) if head["labels"] else None,
            _example(head["example"], parts["example"]),
            head["failure"],
            head["seconds"],
            tuple((level, message) for level, message in head["logged"]),
            head["worn"],
            update,
        )


def send(stream: IO[bytes], data: bytes) -> None:
    """Write *data* as a message."""
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes:
    """The next message of *stream*; EOFError where there is none."""
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    return _exactly(stream, length)


def joined(messages: Iterable[bytes]) -> bytes:
    """Several *messages* as one."""
    return b"".join(_LENGTH.pack(len(each)) + each for each in messages)


def separated(message: bytes) -> Iterator[bytes]:
    """The messages that were `joined`."""
    stream = BytesIO(message)
    while stream.tell() < len(message):
        yield receive(stream)


def _exactly(stream: IO[bytes], length: int) -> bytes:
    data = stream.read(length)
    if len(data) != length:
        raise EOFError(f"{len(data)} of {length} bytes")
    return data


def _packed(head: Mapping[str, Any], parts: Mapping[str, bytes]) -> bytes:
    sizes = {name: len(part) for name, part in parts.items()}
    packed = json.dumps({**head, "sizes": sizes}).encode()
    return b"".join((_LENGTH.pack(len(packed)), packed, *parts.values()))


def _unpacked(data: bytes) -> tuple[dict[str, Any], dict[str, memoryview]]:
    (length,) = _LENGTH.unpack_from(data)
    at = _LENGTH.size + length
    head, parts = json.loads(data[_LENGTH.size : at]), {}
    for name, size in head["sizes"].items():
        parts[name] = memoryview(data)[at : at + size]
        at += size
    return head, parts


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(part: memoryview) -> str:
    return str(part, "utf-8", "surrogatepass")


@lru_cache(CACHED)
def _wrapper_text(wrapper: Wrapper) -> str:
    return json.dumps(document_of(wrapper))


@lru_cache(CACHED)
def _wrapper(text: str) -> Wrapper:
    (wrapper,) = read_document(json.loads(text), "a wrapper of the crawl")
    return wrapper


def _article_parts(result: ArticleResult | None) -> tuple[dict[str, Any] | None, dict[str, bytes]]:
    """JSON for *result*, and the texts of its article that are not None, encoded."""
    if result is None:
        return None, {}
    head = {name: getattr(result, name) for name in _RESULT_FIELDS}
    parts = {"paragraphs": result.paragraphs}
    if result.article is None:
        return head, parts
    values = values_of(result.article)
    parts |= {name: _encoded(text) for name in _TEXTS if (text := values.pop(name)) is not None}
    return {**head, "article": values}, parts


def _article_result(head: dict[str, Any], parts: Mapping[str, memoryview]) -> ArticleResult:
    values, paragraphs = head.pop("article"), bytes(parts["paragraphs"])
    if values is None:
        return ArticleResult(**head, paragraphs=paragraphs)
    values.update({name: _decoded(parts[name]) for name in _TEXTS if name in parts})
    return ArticleResult(Article(**values), **head, paragraphs=paragraphs)


def _labels_head(labels: LabelSummary) -> dict[str, Any]:
    reason = labels.reason.value if labels.reason else None
    return {
        "reason": reason,
        "field_hits": labels.field_hits,
        "n_tokens": labels.n_tokens,
        "selectors": labels.selectors,
    }


def _labels(fields: dict[str, Any]) -> LabelSummary:
    reason = fields.pop("reason")
    selectors = tuple((text, hit) for text, hit in fields.pop("selectors"))
    return LabelSummary(Reason(reason) if reason else None, **fields, selectors=selectors)


def _example_parts(example: Example | Rejection | None) -> tuple[dict[str, Any], bytes]:
    match example:
        case None:
            return {}, b""
        case Rejection():
            return {"rejection": example.value}, b""
    head, arrays = _observation_parts(example.observation)
    return {"key": example.key, **head}, arrays


def _example(fields: dict[str, Any], arrays: memoryview) -> Example | Rejection | None:
    if not fields:
        return None
    if "rejection" in fields:
        return Rejection(fields["rejection"])
    return Example(fields["key"], _observation(fields["observation"], arrays))


def observation_message(seen: Observation) -> bytes:
    """What `observation_in` reads."""
    head, arrays = _observation_parts(seen)
    return _packed(head, {"arrays": arrays})


def observation_in(message: bytes) -> Observation:
    """The observation in a *message*."""
    head, parts = _unpacked(message)
    return _observation(head["observation"], parts["arrays"])


def _observation_parts(seen: Observation) -> tuple[dict[str, Any], bytes]:
    """JSON for what was *seen*, and its arrays.

    They are int32[n] buckets and uint32[n, 2] counts of each family.
    """
    arrays = b"".join(
        bucket.astype("<i4").tobytes() + counts.astype("<u4").tobytes()
        for bucket, counts in seen.counts.values()
    )
    head = {
        "rows": {name: len(bucket) for name, (bucket, _) in seen.counts.items()},
        "tokens": seen.tokens.tolist(),
        "digest": seen.digest,
        "pages": seen.pages,
    }
    return {"observation": head}, arrays


def _observation(head: dict[str, Any], arrays: memoryview) -> Observation:
    counts, at = {}, 0
    for name, n in head["rows"].items():
        # Copies: an array of the message itself would keep all of it, the article included.
        bucket = np.frombuffer(arrays, "<i4", n, at).copy()
        more = np.frombuffer(arrays, "<u4", 2 * n, at + bucket.nbytes).reshape(n, 2).copy()
        counts[name] = bucket, more
        at += bucket.nbytes + more.nbytes
    return Observation(counts, np.array(head["tokens"], np.int64), head["digest"], head["pages"])
