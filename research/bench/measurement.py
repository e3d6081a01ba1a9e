"""Systems by name: making them, training them, asking them about pages with a clock at hand.

Strategy: a system is what `research.systems.create` makes of a spec (`name:key=value`), and
what it can do is read off the protocols of `systems.base`. Whatever stops a system before the
first page (unknown name, missing library, nothing to learn from) is an error of the run, found
before anything slow starts. Whatever it raises on a page is the page's failure: empty text and
one line that says what happened; but for what the user has to mend, such as a missing browser.

Time is taken around `extract` alone, next to lxml's time for the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Final, Protocol, runtime_checkable

from research.bench import metrics
from research.bench.scoring import Answer
from research.bench.timing import parse_milliseconds
from research.datasets.pages import LabelledPage, examples
from research.errors import REMEDY, UserError
from research.systems.base import (
    Oracle,
    Pretrained,
    SiteExtractor,
    TextExtractor,
    TokenExtractor,
    Trainable,
)

Factory = Callable[[str], TextExtractor]
MESSAGE_LENGTH: Final = 200


@runtime_checkable
class ModelLoader(Protocol):
    """A system that reads what it learned elsewhere."""

    def load_model(self, path: Path) -> object:
        """Read the model file *path*."""


def names(
    argument: str, known: Iterable[str], apart: Container[str] = frozenset()
) -> tuple[str, ...]:
    """The specs of `--systems a,b:key=value,c`; `all` is every known system but those *apart*."""
    known = tuple(known)
    everything = tuple(name for name in known if name not in apart)
    specs = everything if argument == "all" else tuple(each.strip() for each in argument.split(","))
    for number, spec in enumerate(specs):
        if spec.partition(":")[0] not in known:
            raise UserError(f"system {spec!r} is unknown; known are: {', '.join(known)}")
        if spec in specs[:number]:
            raise UserError(f"system {spec!r} is named twice; name it once")
    return specs


def make(spec: str, factory: Factory) -> TextExtractor:
    """Make the system *spec*, or say in one line why it cannot be made."""
    try:
        return factory(spec)
    except ImportError as error:
        missing = error.name or str(error)
        message = f"system {spec!r} needs {missing}, which is not installed; run: {REMEDY}"
        raise UserError(message) from error
    except (ValueError, TypeError, LookupError) as error:
        raise UserError(f"system {spec!r} cannot be made: {error}") from error


def check(spec: str, factory: Factory, *, trained: bool, model: Path | None) -> None:
    """Fail now, not after an hour, where *spec* cannot be made or has nothing to know from."""
    system = make(spec, factory)
    if trained or not isinstance(system, Trainable):
        return
    if not isinstance(system, ModelLoader):
        raise UserError(f"system {spec!r} reads no model; give it --folds or --train")
    if model is None and isinstance(system, Pretrained):
        return
    if model is None:
        raise UserError(f"system {spec!r} has to learn first; give --folds, --train or --model")
    _load(spec, system, model)


def prepare(
    spec: str, factory: Factory, train: Sequence[LabelledPage], model: Path | None
) -> TextExtractor:
    """Make the system *spec* and let it learn from *train*.

    Where that is empty it loads *model*, and where there is none, what comes with it.
    """
    system = make(spec, factory)
    if not isinstance(system, Trainable):
        return system
    if train:
        system.fit(examples(train))
    elif isinstance(system, ModelLoader) and model:
        _load(spec, system, model)
    elif isinstance(system, Pretrained):
        system.load_bundled()
    return system


def _load(spec: str, system: ModelLoader, model: Path) -> None:
    try:
        system.load_model(model)
    except (ValueError, LookupError, OSError) as error:
        raise UserError(f"system {spec!r} cannot load {model}: {error}") from error


def answers(system: TextExtractor, pages: Sequence[LabelledPage]) -> Iterator[tuple[int, Answer]]:
    """Ask *system* about all pages; yields the number of a page and the answer."""
    _warm_up(system, pages)
    if isinstance(system, SiteExtractor):
        yield from _site_answers(system, pages)
        return
    for number, page in enumerate(pages):
        answer = _timed(system, page)
        if isinstance(system, TokenExtractor) and answer.error is None:
            answer = _located(system, page, answer)
        yield number, answer


def failed(pages: Sequence[LabelledPage], error: Exception) -> Iterator[tuple[int, Answer]]:
    """Answer for a system that could not learn: every page fails, for the same reason."""
    return ((number, Answer("", error=f"fit: {described(error)}")) for number in range(len(pages)))


def _warm_up(system: TextExtractor, pages: Sequence[LabelledPage]) -> None:
    """Ask once without a clock: tables that are built at the first call are not a page's time."""
    if pages:
        parse_milliseconds(pages[0].source)
        _timed(system, pages[0])


def _timed(system: TextExtractor, page: LabelledPage) -> Answer:
    unit = parse_milliseconds(page.source)
    start = perf_counter()
    try:
        text = _text(_asked(system, page))
    except UserError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it raises is this page's failure
        return Answer("", _ms_since(start), unit, error=described(error))
    return Answer(text, _ms_since(start), unit)


def _asked(system: TextExtractor, page: LabelledPage) -> object:
    if isinstance(system, Oracle):
        return system.extract_best(page.html, page.golds[0])
    return system.extract(page.html)


def _located(system: TokenExtractor, page: LabelledPage, answer: Answer) -> Answer:
    """Add the scores by word position; finding them is not part of the time."""
    from scrapy_mss.core.labels import align

    try:
        found = system.locate(page.html)
        gold = align(found.tokens, page.golds[0])[0]
        exact = metrics.positions(found.kept, gold, found.tokens.is_word)
    except Exception as error:  # noqa: BLE001 - as above
        return replace(answer, error=f"locate: {described(error)}")
    return replace(answer, positions=exact)


def _site_answers(
    system: SiteExtractor, pages: Sequence[LabelledPage]
) -> Iterator[tuple[int, Answer]]:
    """Ask about all pages of a site and group at once; each takes its share by size."""
    groups: dict[tuple[str, str | None], list[int]] = {}
    for number, page in enumerate(pages):
        groups.setdefault((page.site, page.group), []).append(number)
    for numbers in groups.values():
        yield from zip(numbers, _site(system, [pages[i] for i in numbers]), strict=True)


def _site(system: SiteExtractor, pages: Sequence[LabelledPage]) -> list[Answer]:
    units = [parse_milliseconds(page.source) for page in pages]
    sizes = [len(page.source) for page in pages]
    start = perf_counter()
    texts, error = _site_texts(system, [page.html for page in pages])
    ms = _ms_since(start)
    shares = (ms * size / max(1, sum(sizes)) for size in sizes)
    rows = zip(texts, shares, units, strict=True)
    return [Answer(text, share, unit, error=error) for text, share, unit in rows]


def _site_texts(system: SiteExtractor, pages: Sequence[str]) -> tuple[list[str], str | None]:
    try:
        return _texts(system.extract_site(pages), len(pages)), None
    except Exception as error:  # noqa: BLE001 - whatever it raises is the failure of the group
        return [""] * len(pages), described(error)


def _texts(values: Sequence[object], count: int) -> list[str]:
    texts = [_text(value) for value in values]
    if len(texts) != count:
        raise ValueError(f"{len(texts)} texts for {count} pages")
    return texts


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {type(value).__name__}")
    return value


def _ms_since(start: float) -> float:
    return (perf_counter() - start) * 1000


def described(error: BaseException) -> str:
    """The kind and the message of *error* on one line."""
    line = " ".join(f"{type(error).__name__}: {error}".split())
    return line[:MESSAGE_LENGTH]
