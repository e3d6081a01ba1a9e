"""A report that people read, rendered from the same value as the JSON.

Order: for each set what it is, then one table of systems and scores, then the differences, then
speed, then languages and sites; at the end how it was made. Columns are rows of tables here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from research.bench.report import Difference, Report, Result, SetInfo
from research.bench.summary import Estimate, Slice
from research.systems import titled

MANY_SITES: Final = 40  # more do not fit a report; then it shows the worst
WORST_SITES: Final = 15
NONE: Final = "–"  # noqa: RUF001 - a dash in an empty cell


class Column(NamedTuple):
    """A statistic in a table, with its interval or without."""

    title: str
    metric: str
    interval: bool = False


SCORES: Final = (
    Column("P", "p"),
    Column("R", "r"),
    Column("F1", "f1", interval=True),
    Column("best F1", "best_f1"),
    Column("4-gram F1", "shingle_f1", interval=True),
    Column("CleanEval", "cleaneval"),
    Column("ROUGE-LSum", "rouge", interval=True),
    Column("position F1", "position_f1", interval=True),
    Column("under .80", "poor"),
)
COMPARED: Final = ("f1", "best_f1", "shingle_f1", "cleaneval", "rouge", "position_f1")
EXPLAINED: Final = """\
P, R and F1 are means over pages of word-bag scores against the short gold; *best F1* is against \
the best of a page's golds. *4-gram F1* is the article-extraction-benchmark's, *CleanEval* its \
text-only score 1 − distance / alignment length, *position F1* has every word occurrence \
distinct. *under .80* is the share of pages whose F1 is lower. In brackets: 95 % intervals from \
{resamples} resamples of whole sites (seed {seed}). *× lxml* is the median over pages of the \
time divided by the time of `lxml.html.document_fromstring` for the same bytes, taken just \
before it in the same process."""  # noqa: RUF001 - the signs of arithmetic


def render(report: Report) -> str:
    """The whole report."""
    sections = (section for info in report.test_sets for section in _sections(report, info))
    return "\n\n".join(["# Benchmark", *sections, *_making(report)]) + "\n"


def _sections(report: Report, info: SetInfo) -> Iterable[str]:
    results = [report.result(info.name, system) for system in report.systems]
    yield f"## {info.name}"
    yield _described(info)
    yield scores_table(results)
    yield from _failures(results)
    yield from _differences(report, info)
    yield "### Speed"
    yield _speed_table(results)
    yield "### F1 by language"
    yield _slices_table("language", results, _by_language(results))
    yield f"### F1 by site{_which_sites(results)}"
    yield _slices_table("site", results, _by_site(results))


def _described(info: SetInfo) -> str:
    size = ", ".join(
        (_count(info.pages, "page"), _count(info.sites, "site"), _count(info.languages, "language"))
    )
    skipped = f" Skipped: {_count(info.skipped, 'broken record')}." if info.skipped else ""
    return f"{size}, {info.bytes / 1e6:.1f} MB, sha256 `{info.sha256[:16]}`.{skipped}"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def scores_table(results: Sequence[Result]) -> str:
    """The main table: systems and their scores."""
    columns = [c for c in SCORES if any(r.metrics[c.metric] for r in results)]
    head = ["system", "pages", "failed", *(column.title for column in columns)]
    return table(head, [_score_cells(result, columns) for result in results])


def _score_cells(result: Result, columns: Sequence[Column]) -> list[str]:
    cells = (_cell(result.metrics[c.metric], interval=c.interval) for c in columns)
    return [titled(result.system), str(result.pages), str(result.failures), *cells]


def _cell(estimate: Estimate | None, *, interval: bool, sign: str = "") -> str:
    if estimate is None:
        return NONE
    value = _score(estimate.value, sign)
    if not interval or estimate.low is None or estimate.high is None:
        return value
    return f"{value} [{_score(estimate.low, sign)}, {_score(estimate.high, sign)}]"


def _score(value: float, sign: str = "") -> str:
    """Three digits; adding 0 turns a rounded -0 into 0."""
    return f"{round(value, 3) + 0.0:{sign}.3f}"


def _failures(results: Sequence[Result]) -> Iterable[str]:
    lines = [f"- {titled(r.system)}: {_code(error)}" for r in results for error in r.errors]
    if lines:
        yield "First failures of each system:"
        yield "\n".join(lines)


def _differences(report: Report, info: SetInfo) -> Iterable[str]:
    first = report.systems[0]
    found = [d for d in report.differences if (d.set, d.other) == (info.name, first)]
    if found:
        yield f"### Difference from {titled(first)}"
        yield _differences_table(found)


def _differences_table(found: Sequence[Difference]) -> str:
    known = [name for name in COMPARED if any(each.metrics[name] for each in found)]
    titles = {column.metric: column.title for column in SCORES}
    rows = [
        [titled(each.system), *(_cell(each.metrics[n], interval=True, sign="+") for n in known)]
        for each in found
    ]
    return table(["system", *(titles[name] for name in known)], rows)


def _speed_table(results: Sequence[Result]) -> str:
    head = ["system", "ms median", "ms mean", "ms p95", "MB/s", "× lxml"]  # noqa: RUF001
    return table(head, [_speed_cells(result) for result in results])


def _speed_cells(result: Result) -> list[str]:
    speed = result.speed
    values = (speed.ms_median, speed.ms_mean, speed.ms_p95, speed.mb_per_s, speed.times_lxml)
    return [titled(result.system), *(_three_digits(value) for value in values)]


def _three_digits(value: float | None) -> str:
    """Three digits carry all that a time on a shared machine is good for."""
    if value is None:
        return NONE
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004 - three digits


def _by_language(results: Sequence[Result]) -> list[str]:
    return [each.name for each in results[0].languages]


def _by_site(results: Sequence[Result]) -> list[str]:
    sites = results[0].sites
    if len(sites) > MANY_SITES:
        sites = sorted(sites, key=lambda site: (site.metrics["f1"] or 0.0, site.name))[:WORST_SITES]
    return [each.name for each in sites]


def _which_sites(results: Sequence[Result]) -> str:
    count = len(results[0].sites)
    if count <= MANY_SITES:
        return ""
    return f": the {WORST_SITES} of {count} that are worst for {titled(results[0].system)}"


def _slices_table(title: str, results: Sequence[Result], names: Sequence[str]) -> str:
    pick: Callable[[Result], Sequence[Slice]]
    pick = (lambda r: r.languages) if title == "language" else (lambda r: r.sites)
    found = {(r.system, each.name): each for r in results for each in pick(r)}
    first = results[0].system
    rows = [
        [name, str(found[first, name].pages), *(_f1(found[r.system, name]) for r in results)]
        for name in names
    ]
    return table([title, "pages", *(titled(result.system) for result in results)], rows)


def _f1(each: Slice) -> str:
    value = each.metrics["f1"]
    return NONE if value is None else _score(value)


def _making(report: Report) -> Iterable[str]:
    yield "## How this was made"
    yield f"```\n{report.command}\n```"
    versions = ", ".join(f"{name} {each}" for name, each in report.versions.items() if each)
    yield f"{report.date}; {versions}."
    yield from _training(report)
    if report.settings.jobs > 1:
        yield f"Times were taken with {report.settings.jobs} processes at work at once."
    settings = report.settings
    yield EXPLAINED.format(resamples=settings.resamples, seed=settings.seed)


def _training(report: Report) -> Iterable[str]:
    settings = report.settings
    if not (settings.folds or report.train_sets or settings.model):
        yield "Systems that learn are those that a trained model comes with, as it is."
    if settings.folds:
        yield f"Systems that learn were cross-validated by site, {settings.folds} folds a set."
    if report.train_sets:
        names = ", ".join(f"{s.name} (`{s.sha256[:16]}`)" for s in report.train_sets)
        yield f"They learned from {names}, without the sites of the test sets."
    if settings.model:
        yield f"Systems that learn loaded `{settings.model}` (sha256 `{settings.model_sha256}`)."


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; numbers stand to the right, the first column to the left."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    lines = (" | ".join(_escaped(cell) for cell in row) for row in (head, rule, *rows))
    return "\n".join(f"| {line} |" for line in lines)


def _escaped(cell: str) -> str:
    return " ".join(cell.replace("|", "\\|").split())


def _code(text: str) -> str:
    return "`" + text.replace("`", "'") + "`"
