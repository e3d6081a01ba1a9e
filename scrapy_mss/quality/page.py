"""The report as one HTML page that loads nothing: no scripts, pictures, fonts or addresses.

Alarms come first, then what sites answer, then their quality, the worst first, then each by day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from typing import Final

from scrapy_mss.blocks.lessons import described
from scrapy_mss.output.html_elements import Html, document, element, joined, table
from scrapy_mss.quality.alarms import (
    EMPTY,
    SILENT,
    UNREACHABLE,
    WINDOW,
    Figure,
    Incident,
    hour_text,
)
from scrapy_mss.quality.counts import (
    ARTICLES,
    COVERAGE,
    LAYOUT,
    MEASURES,
    PAGES,
    RULE_FIELDS,
    WORDS,
    WRAPPED,
    Counts,
    Scale,
    Share,
)
from scrapy_mss.quality.report import Alarm, Report, SiteReport, date_of, plural

MIN_DAYS: Final = 3  # that make a line
CAUSES: Final = 4  # of loss, in a row
BAR: Final = 160  # pixels
STEP, HEIGHT, EDGE = 2, 16, 2  # pixels of a line: from one day to the next, and of the picture
NOTHING_KNOWN: Final = "–"  # noqa: RUF001 - as tables have it


# Shown with the rule itself, and in a table of its own.
_ELSEWHERE: Final = {*(f"rule_{name}" for name in RULE_FIELDS), COVERAGE}
COLUMNS: Final = [each for name, each in MEASURES.items() if name not in _ELSEWHERE]
OF_A_DAY: Final = [each for each in COLUMNS if each.name != LAYOUT]
# What may be read and asked for: the style in the page, and nothing else.
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(found: Report) -> str:
    """The page."""
    period = f"{_day(found.first)} to {_day(found.today)} {date_of(found.today).year}"
    title = f"Quality of {plural(len(found.sites), 'site')}"
    main = element(
        "main",
        element("h1", title),
        element("p", period, class_="muted"),
        _tiles(found),
        _alarms(found),
        *(element("p", line) for line in found.advice),
        _attempts(found),
        _coverage(found),
        _sites(found),
        element("h2", "Day by day"),
        *(_details(site, found) for site in found.sites),
        _legend(),
    )
    style = files("scrapy_mss.quality").joinpath("page.css").read_text(encoding="utf-8")
    return document(title, style, element("body", main), POLICY)


def _day(day: int) -> str:
    date = date_of(day)
    return f"{date.day} {date:%b}"


def _tiles(found: Report) -> Html:
    total = found.total
    with_alarms = sum(bool(site.alarms) for site in found.sites)
    tiles = (
        (len(found.sites), "site" if len(found.sites) == 1 else "sites", ""),
        (total[PAGES], "pages", ""),
        (total[ARTICLES], "articles", ""),
        (with_alarms, "with an alarm", "bad" if with_alarms else ""),
    )
    return element(
        "ul",
        *(element("li", element("b", f"{n:,}"), what, class_=kind) for n, what, kind in tiles),
        class_="tiles",
    )


def _alarms(found: Report) -> Html:
    if not found.alarms:
        return element("p", "No site has an alarm.", class_="muted")
    rows = (
        element("li", element("span", site.site, class_="name"), element("div", *alarms))
        for site in found.sites
        if (alarms := [_alarm(alarm) for alarm in site.alarms])
    )
    return joined(element("h2", "Alarms"), element("ul", *rows, class_="alarms"))


def _alarm(alarm: Alarm) -> Html:
    if isinstance(alarm, Incident):
        since = element("span", f" · since {hour_text(alarm.since)}", class_="muted")
        return element("p", element("span", alarm.text, since))
    change = alarm.change.replace(" to ", " → ")
    since = element("span", f" · {alarm.pages:,} since {_day(alarm.since)}", class_="muted")
    return element(
        "p",
        element("span", MEASURES[alarm.measure].summary, since),
        element("span", change, class_="change"),
    )


def _attempts(found: Report) -> Html:
    sites = [site for site in found.sites if site.activity.attempts or site.is_listed]
    heads = ("Site", "Last success", "Last error", "", "Lists", "Articles")
    return _section("Answers of sites", heads, map(_attempts_row, sites), "box answers")


def _section(title: str, heads: Sequence[str], rows: Iterable[Html], kind: str = "box") -> Html:
    """A table of sites below its *title*; nothing if there is no row."""
    found = list(rows)
    if not found:
        return Html("")
    return joined(
        element("h2", title), element("div", table(heads, found, class_="sites"), class_=kind)
    )


def _site_row(site: SiteReport, cells: Iterable[Html], *, is_bad: bool) -> Html:
    name = element("th", site.site, class_="name", scope="row")
    return element("tr", name, *cells, class_="bad" if is_bad else "")


def _attempts_row(site: SiteReport) -> Html:
    activity, wrong = site.activity, {alarm.measure for alarm in site.alarms}
    failed = activity.last_failure
    success, of_success = site.last_success, "bad" if UNREACHABLE in wrong else ""
    of_articles = "bad" if wrong & {SILENT, EMPTY} else ""
    cells = (
        ("Last success", success, of_success),
        ("Last error", NOTHING_KNOWN if failed is None else hour_text(failed), of_success),
        ("", site.error or "", f"error {of_success}"),
        ("Lists", f"{activity.lists:,}" if activity.tried else NOTHING_KNOWN, ""),
        ("Articles", f"{site.total[ARTICLES]:,}", of_articles),
    )
    row = (element("td", text, class_=kind, data_label=title) for title, text, kind in cells)
    return _site_row(site, row, is_bad=bool(of_success or of_articles))


def _coverage(found: Report) -> Html:
    sites = [site for site in found.sites if site.coverage.announced]
    heads = ("Site", "Announced", "Due", "Requested", "Articles", "", "Lost")
    return _section("Coverage", heads, map(_coverage_row, sites), "box coverage")


def _coverage_row(site: SiteReport) -> Html:
    of = site.coverage
    numbers = {
        "Announced": of.announced,
        "Due": of.due,
        "Requested": of.requested,
        "Articles": of.articles,
    }
    causes = ", ".join(f"{number:,} {fate.name}" for fate, number in of.lost[:CAUSES])
    is_bad = any(alarm.measure == COVERAGE for alarm in site.alarms)
    cells = [element("td", f"{n:,}", data_label=title) for title, n in numbers.items()]
    bar = _bar((of.due, of.requested, of.articles))
    lost = element("td", causes or NOTHING_KNOWN, class_="lost", data_label="Lost")
    return _site_row(site, (*cells, element("td", bar), lost), is_bad=is_bad)


def _bar(numbers: Sequence[int]) -> Html:
    """Bars one upon the other; the first number is the whole width."""
    widths = (BAR * number / max(*numbers, 1) for number in numbers)
    bars = (element("rect", width=round(width, 1), height=10, class_="bar") for width in widths)
    label = "due, requested, articles"
    return element("svg", *bars, class_="bars", role="img", aria_label=label, width=BAR, height=10)


def _sites(found: Report) -> Html:
    sites = [site for site in found.sites if site.total[PAGES] or site.total[WRAPPED]]
    heads = ("Site", "Articles", *(column.title for column in COLUMNS))
    return _section("Quality, the worst sites first", heads, (_row(site, found) for site in sites))


def _row(site: SiteReport, found: Report) -> Html:
    n_articles = _daily(site, found, lambda counts: float(counts[ARTICLES]))
    line = _line(n_articles, 0.0, "articles by day")
    articles = element("td", f"{site.total[ARTICLES]:,}", line, data_label="Articles")
    cells = (_cell(site, found, column) for column in COLUMNS)
    return _site_row(site, (articles, *cells), is_bad=bool(site.alarms))


def _cell(site: SiteReport, found: Report, column: Share | Scale) -> Html:
    figure = _figure(site, column.name)
    now = site.value(column.name) if figure is None else figure.now
    if now is None:
        return element("td", NOTHING_KNOWN, class_="none", data_label=column.title)
    was = line = Html("")
    if figure is not None and figure.declined:
        of_rule = figure.measure.removeprefix(column.name).strip("_")
        before = f"{of_rule} was {column.shown(figure.before)}".strip()
        was = element("span", before, class_="was")
    if column.name != LAYOUT:
        most = 0.0 if column is WORDS else 1.0
        line = _line(_daily(site, found, column.value), most, f"{column.title} by day")
    kind = "bad" if was else ""
    return element("td", column.shown(now), was, line, class_=kind, data_label=column.title)


def _figure(site: SiteReport, measure: str) -> Figure | None:
    """The figure of *measure*; of a rule, the first that has declined, or of its fields."""
    declined = (each for each in site.figures.values() if each.declined)
    parts = (each for each in declined if each.measure.startswith(f"{measure}_"))
    own = site.figures.get(measure)
    return own if own is not None and own.declined else next(parts, own)


def _daily(
    site: SiteReport, found: Report, number: Callable[[Counts], float | None]
) -> list[float | None]:
    days = range(found.first, found.today + 1)
    return [number(site.days[day]) if day in site.days else None for day in days]


def _line(numbers: Sequence[float | None], most: float, label: str) -> Html:
    """A line through *numbers*, if there are enough of them to be one."""
    if sum(number is not None for number in numbers) < MIN_DAYS:
        return Html("")
    top = most or max((each for each in numbers if each is not None), default=1.0) or 1.0
    return sparkline(numbers, top, label)


def sparkline(numbers: Sequence[float | None], most: float, label: str) -> Html:
    """A line through *numbers* from 0 to *most*; where there is none, it has a gap.

    A number without neighbours is a dot. *label* is for those who cannot see it.
    """
    parts: list[str] = []
    dot, was_known = Html(""), False
    for at, number in enumerate(numbers):
        if number is not None:
            share = min(max(number / most, 0.0), 1.0) if most else 0.0
            x, y = EDGE + STEP * at, round(EDGE + (HEIGHT - 2 * EDGE) * (1 - share), 1)
            parts.append(f"L{x} {y}" if was_known else f"M{x} {y}h0")
            dot = element("circle", cx=x, cy=y, r=1.8)
        was_known = number is not None
    width = STEP * (len(numbers) - 1) + 2 * EDGE
    sizes = {"width": width, "height": HEIGHT, "viewBox": f"0 0 {width} {HEIGHT}"}
    line = element("path", d="".join(parts))
    return element("svg", line, dot, class_="line", role="img", aria_label=label, **sizes)


def _details(site: SiteReport, found: Report) -> Html:
    total = site.total
    pages = f"{plural(total[ARTICLES], 'article')} in {plural(total[PAGES], 'page')}"
    name = element("span", site.site, class_="name")
    size = element("span", pages, class_="muted")
    shown = (_learned(site), _losses(site), _kinds(site, found.today), _days(site))
    inside = element("div", *shown, class_="inside")
    return element("details", element("summary", name, size), inside)


def _learned(site: SiteReport) -> Html:
    """What the labels of the site have taught; nothing if it has none."""
    learned = site.learned
    return Html("") if learned is None else element("p", f"Labels: {described(learned)}.")


def _losses(site: SiteReport) -> Html:
    rows = [
        element(
            "tr",
            element("th", fate.summary.replace("`", ""), scope="row"),
            element("td", f"{number:,}"),
            element("td", *(element("div", url) for url in site.coverage.examples(fate))),
        )
        for fate, number in site.coverage.lost
    ]
    if not rows:
        return Html("")
    heads = ("Cause", "addresses", "such as")
    return joined(element("h3", "What did not come out"), table(heads, rows, class_="losses"))


def _kinds(site: SiteReport, today: int) -> Html:
    rows = [
        element(
            "tr",
            element("th", each.text, scope="row"),
            element("td", f"{each.now:.0%}"),
            element("td", NOTHING_KNOWN if each.before is None else f"{each.before:.0%}"),
        )
        for each in site.kinds(today)
    ]
    if not rows:
        return Html("")
    return joined(element("h3", "Kinds of pages"), table(("Kind", "last week", "before"), rows))


def _days(site: SiteReport) -> Html:
    heads = ("Day", "Pages", "Articles", *(column.title for column in OF_A_DAY))
    rows = (_day_row(day, site.days[day]) for day in sorted(site.days, reverse=True))
    return joined(element("h3", "Days"), table(heads, rows))


def _day_row(day: int, counts: Counts) -> Html:
    cells = [f"{counts[PAGES]:,}", f"{counts[ARTICLES]:,}"]
    for column in OF_A_DAY:
        number = column.value(counts)
        cells.append(NOTHING_KNOWN if number is None else column.shown(number))
    day_cell = element("th", _day(day), scope="row")
    return element("tr", day_cell, *(element("td", each) for each in cells))


def _legend() -> Html:
    text = (
        "Times are in UTC. Last success: the last response without an error. Lists: front pages, "
        "feeds and sitemaps that the site sent on the last day. Announced: addresses in these "
        "lists, each once per crawl. Due: announced, and neither old, a duplicate nor read before. "
        "The bar shows how many of those due were requested, and how many became articles. "
        "Of pages: the share of pages that are articles. Open: the share of pages that are not "
        "consent walls, bot challenges or shells without content. Rule: the share of pages that "
        "the site's rule matches. Title, author, date, image: the share of articles that have one. "
        "Words, confidence: medians. Layout: the share of articles in places of the page where "
        "articles were before. A number is of the latest days that together have enough pages. It "
        f"has declined if it is lower than in the {WINDOW} days before by more than chance, and "
        "by at least a fifth."
    )
    return element("footer", text)
