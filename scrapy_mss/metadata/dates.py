"""Dates as pages write them, to ISO 8601.

Strategy: a table of ways to write a day (`DAYS`), one way to write a time behind it, and nothing
else. The answer has what the page has: a day alone stays a day, a time without a zone stays
without one, a fraction of a second is dropped. A day that can be read in two ways (`05/03/2024`)
is read only where the page's language decides it. No clock is asked: a date in the future is the
page's word.

Not dates: placeholders (the zero of the epoch, years before 1900) and days that do not exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta, timezone
from typing import Final, NamedTuple

MAX_TEXT: Final = 200  # a date stands at the front of its value; what is longer is prose
FIRST_YEAR: Final = 1900  # papers put older pages on line, but there a date is mostly a placeholder
LAST_YEAR: Final = 2100
PLACEHOLDERS: Final = frozenset({date(1900, 1, 1), date(1970, 1, 1)})
FARTHEST_ZONE: Final = timedelta(hours=14)  # Kiribati; nothing on Earth is further from UTC

# --- months by name -------------------------------------------------------------------------------

# Number and names: whole, inflected and short ones, one line a group of languages. No word may
# stand for two months: Croatian is absent, whose `listopad` is the October that Poles and Czechs
# call November.
MONTHS: Final = """
1 january jan januar jänner janvier janv enero ene gennaio gen janeiro januari tammikuuta
1 stycznia styczeń sty ocak ledna leden ianuarie ian január januára января янв січня
2 february feb febr februar feber février févr fév fevrier febrero febbraio fevereiro fev februari
2 helmikuuta lutego luty şubat února únor februarie február februára февраля фев лютого
3 march mar mrz märz maerz mars marzo março marco mrt maart maaliskuuta
3 marca marzec mart března březen martie március marec марта березня
4 april apr avril avr abril abr aprile aprilie huhtikuuta
4 kwietnia kwiecień kwi nisan dubna duben április apríla апреля апр квітня
5 may mai mayo maggio mag maio mei maj toukokuuta
5 maja mayıs května květen május мая травня
6 june jun juni juin junio giugno giu junho kesäkuuta
6 czerwca czerwiec haziran června červen iunie iun június júna июня июн червня
7 july jul juli juillet juil julio luglio lug julho heinäkuuta
7 lipca lipiec temmuz července červenec iulie iul július júla июля июл липня
8 august aug août aout agosto ago ağustos augusti augustus elokuuta
8 sierpnia sierpień srpna srpen augusztus augusta августа авг серпня
9 september sept sep septembre septiembre setiembre settembre set setembro syyskuuta
9 września wrzesień wrz eylül září septembrie szeptember septembra сентября сен вересня
10 october oct okt oktober octobre octubre ottobre ott outubro out lokakuuta
10 października październik paź ekim října říjen octombrie október októbra октября окт жовтня
11 november nov novembre noviembre novembro marraskuuta listopada listopad
11 kasım listopadu noiembrie noi novembra ноября ноя листопада
12 december dec dez dezember décembre déc decembre diciembre dic dicembre dezembro des desember
12 joulukuuta grudnia grudzień gru aralık prosince prosinec decembrie decembra декабря дек грудня
"""  # noqa: RUF001 - the letters of Turkish and of Cyrillic
MONTH_NUMBER: Final[Mapping[str, int]] = {
    name: int(number)
    for number, *names in map(str.split, MONTHS.split("\n")[1:-1])
    for name in names
}
_MONTH: Final = "|".join(sorted(map(re.escape, MONTH_NUMBER), key=len, reverse=True))

# --- zones by name --------------------------------------------------------------------------------

# Hours from UTC. Letters that mean several zones (IST, BST, CST outside RFC 2822 dates, AST) are
# absent: such a time is given without a zone rather than with a wrong one.
ZONES: Final[Mapping[str, int]] = {
    **dict.fromkeys(("z", "utc", "gmt", "ut"), 0),
    "est": -5,
    "edt": -4,
    "cdt": -5,
    "mst": -7,
    "mdt": -6,
    "pst": -8,
    "pdt": -7,
    "cet": 1,
    "cest": 2,
    "mez": 1,
    "mesz": 2,
    "eet": 2,
    "eest": 3,
    "jst": 9,
    "kst": 9,
}

# --- numeric days that languages read differently -------------------------------------------------

# Languages, and regions of English, in which `05/03/2024` is the fifth of March.
DAY_FIRST: Final = frozenset(
    "ar bg ca cs da de el es fi fr gl he hr id is it ms nb nl nn no pl pt ro ru sk sl sr sv th tr "
    "uk vi en-au en-gb en-ie en-in en-nz".split()
)
MONTH_FIRST: Final = frozenset({"en-us"})


class Style(NamedTuple):
    """One way to write a day; the groups of *pattern* are named y, m, d, or a and b."""

    name: str
    examples: tuple[str, ...]
    pattern: re.Pattern[str]


def _style(name: str, examples: str, pattern: str) -> Style:
    return Style(name, tuple(examples.split("; ")), re.compile(pattern, re.IGNORECASE))


_WEEKDAY: Final = r"(?:[^\W\d_]{2,12}\.?,?\s+)?"  # a word; the languages have too many
_NTH: Final = r"(?:st|nd|rd|th|er|º|°|ª|\.)?"

DAYS: Final[tuple[Style, ...]] = (
    _style(
        "year first",
        "2024-03-05; 2024/3/5; 2024.03.05",
        r"(?<!\d)(?P<y>\d{4})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})(?!\d)",
    ),
    _style(
        "compact",
        "20240305",
        r"(?<![\w./-])(?P<y>(?:19|20)\d\d)(?P<m>\d\d)(?P<d>\d\d)(?=T?\d{6}|T\d|\D|$)",
    ),
    _style(
        "characters",
        "2024年3月5日; 2024년 3월 5일",
        r"(?P<y>\d{4})\s?[年년]\s?(?P<m>\d{1,2})\s?[月월]\s?(?P<d>\d{1,2})\s?[日일]",
    ),
    _style(
        "Java",
        "Tue Mar 05 10:00:00 CET 2024",
        rf"(?<!\w)(?P<month>{_MONTH})\s+(?P<d>\d{{1,2}})\s+"
        r"(?P<time>\d{1,2}:\d{2}:\d{2}\s+[A-Z]{1,5})\s+(?P<y>\d{4})(?!\d)",
    ),
    _style(
        "month first",
        "March 5, 2024",
        rf"(?<!\w)(?P<month>{_MONTH})\.?\s+(?P<d>\d{{1,2}}){_NTH}(?:,\s*|\s+)(?P<y>\d{{4}})(?!\d)",
    ),
    _style(
        "day first",
        "5 March 2024; 5. März 2024; 5 de marzo de 2024; 05-Mar-2024",
        rf"(?<![\d:])(?P<d>\d{{1,2}}){_NTH}[\s-]*(?:(?:of|de|d')\s+)?(?P<month>{_MONTH})"
        r"\.?,?[\s-]+(?:(?:de|del)\s+)?(?P<y>\d{4})(?!\d)",
    ),
    _style(
        "dotted",
        "05.03.2024",
        r"(?<![\d.])(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.\s?(?P<y>\d{4})(?!\w)",
    ),
    _style(
        "two numbers",
        "13/03/2024; 03-13-2024",
        r"(?<![\d/-])(?P<a>\d{1,2})(?P<s>[-/])(?P<b>\d{1,2})(?P=s)(?P<y>\d{4})(?!\w)",
    ),
)

# What may stand between a day and its time: `T`, a comma, a dash, a word (`at`, `um`, `às`).
_TIME: Final = re.compile(
    r"\s?(?:T|,|-|–|—|\||·|•|\(|:|\s)?\s*(?:(?:at|um|à|a\s+las|às|alle|kl\.?|om|o)\s+)?"  # noqa: RUF001
    r"(?P<hour>\d{1,2})(?:[:.hH時시]\s?(?P<minute>\d{2}))(?:[:.分]?(?P<second>\d{2}))?"
    r"(?:[.,:]\d{1,9})?\s*"
    r"(?P<half>[ap]\.?m\b\.?)?\s*(?:Uhr\b|hrs?\b)?\s*\(?"
    r"(?:(?:UTC|GMT)?(?P<sign>[+-])(?P<zh>\d{1,2}):?(?P<zm>\d{2})?(?!\d)|(?P<zone>[A-Z]{1,4})\b)?",
    re.IGNORECASE,
)
_COMPACT_TIME: Final = re.compile(
    r"T?(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})"
    r"(?:(?P<sign>[+-])(?P<zh>\d{2}):?(?P<zm>\d{2})|(?P<zone>Z))?"
)
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_EPOCH: Final = re.compile(r"(\d{10})(\d{3})?(?:\.\d+)?")
_LEADING: Final = re.compile(rf"\W*{_WEEKDAY}", re.IGNORECASE)


def read(text: str, language: str | None = None) -> str | None:
    """The date that *text* is, as an attribute's value is one: no more than a word before it."""
    text = " ".join(text[:MAX_TEXT].split())
    epoch = _EPOCH.fullmatch(text)
    if epoch:
        return _of_epoch(int(epoch[1]))
    for start in (0, _end_of_weekday(text)):
        for style in DAYS:
            match = style.pattern.match(text, start)
            found = match and _date(match, language)
            if found:
                return found
    return None


def find(text: str, language: str | None = None) -> str | None:
    """The first date in a line of prose, such as `Published on March 5, 2024 at 10:00`."""
    if not _YEAR.search(text):
        return None
    text = " ".join(text[:MAX_TEXT].split())
    matches = (match for style in DAYS if (match := style.pattern.search(text)))
    for match in sorted(matches, key=lambda match: match.start()):
        found = _date(match, language)
        if found:
            return found
    return None


def days_between(one: str, other: str) -> int:
    """How many days two dates of ours are apart."""
    return abs((date.fromisoformat(one[:10]) - date.fromisoformat(other[:10])).days)


def _end_of_weekday(text: str) -> int:
    match = _LEADING.match(text)
    return match.end() if match else 0


def _of_epoch(seconds: int) -> str | None:
    moment = datetime.fromtimestamp(seconds, timezone.utc)
    return moment.isoformat() if _plausible(moment.date()) else None


def _date(match: re.Match[str], language: str | None) -> str | None:
    parts = match.groupdict()
    for month, day in _month_and_day(parts, language):
        try:
            found = date(int(parts["y"]), month, day)
        except ValueError:
            continue
        if _plausible(found):
            return _with_time(found, match)
    return None


def _plausible(day: date) -> bool:
    return FIRST_YEAR <= day.year <= LAST_YEAR and day not in PLACEHOLDERS


def _month_and_day(
    parts: Mapping[str, str | None], language: str | None
) -> Iterator[tuple[int, int]]:
    """The ways to read month and day, at most one of which is a day that exists."""
    if "a" in parts:
        first, second = int(parts["a"] or 0), int(parts["b"] or 0)
        if first > 12 or first == second or _tag(language) in DAY_FIRST:  # noqa: PLR2004 - months
            yield second, first
        elif second > 12 or _tag(language) in MONTH_FIRST:  # noqa: PLR2004 - as above
            yield first, second
        return
    name = parts.get("month")
    month = MONTH_NUMBER[name.lower()] if name else int(parts["m"] or 0)
    yield month, int(parts["d"] or 0)


def _tag(language: str | None) -> str:
    """The tag as the tables spell it: with the region for English, without it otherwise."""
    tag = (language or "").replace("_", "-").lower()
    return tag if tag.startswith("en-") else tag.partition("-")[0]


def _with_time(day: date, match: re.Match[str]) -> str:
    """Day and time in ISO 8601; the day alone where no time follows that makes sense."""
    parts = match.groupdict()
    inner = parts.get("time")
    rest = inner or match.string[match.end() :]
    time = _COMPACT_TIME.match(rest) or _TIME.match(f" {rest}" if inner else rest)
    if not time:
        return day.isoformat()
    try:
        moment = datetime(day.year, day.month, day.day, *_clock(time), tzinfo=_zone(time))
    except ValueError:
        return day.isoformat()
    return moment.isoformat()


def _clock(time: re.Match[str]) -> tuple[int, int, int]:
    parts = time.groupdict()
    hour = int(parts["hour"])
    half = (parts.get("half") or "").lower()
    if half:
        hour = hour % 12 + (12 if half[0] == "p" else 0)
    return hour, int(parts["minute"]), int(parts["second"] or 0)


def _zone(time: re.Match[str]) -> timezone | None:
    parts = time.groupdict()
    if parts["sign"]:
        offset = timedelta(hours=int(parts["zh"]), minutes=int(parts["zm"] or 0))
        offset = -offset if parts["sign"] == "-" else offset
        return timezone(offset) if abs(offset) <= FARTHEST_ZONE else None
    hours = ZONES.get((parts["zone"] or "").lower())
    return None if hours is None else timezone(timedelta(hours=hours))
