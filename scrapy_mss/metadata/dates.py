"""Dates in the forms in which pages write them, converted to ISO 8601.

Strategy: tables of the ways to write a day (`DAYS`), a time after it (`TIMES`) and a zone after
that (`ZONES`), each row with its examples. The result is as precise as the page: a day without a
time stays a day, a time without a zone stays without one, fractions of a second are dropped. A day
that can be read in two ways (`05/03/2024`) is read only if the page's language decides which. The
clock of the machine is not consulted: a date in the future is returned as the page gives it.

Placeholders (the epoch, years before 1900) and days that do not exist give no date.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta, timezone
from functools import lru_cache
from typing import Final, NamedTuple

MAX_LENGTH: Final = 200  # characters; a date is at the front of its value, and prose is longer
FIRST_YEAR: Final = 1900  # archives publish older pages, but there a date is mostly a placeholder
LAST_YEAR: Final = 2100
PLACEHOLDER_DAYS: Final = frozenset({date(1900, 1, 1), date(1970, 1, 1)})
MAX_OFFSET: Final = timedelta(hours=14)  # Kiribati; no zone is further from UTC
N_MONTHS: Final = 12
HALF_DAY: Final = 12  # hours

# --- months by name -------------------------------------------------------------------------------

# Number and names: whole, inflected and abbreviated, one line per group of languages. No word may
# mean two months, so Croatian is absent: its `listopad` is October, and November in Polish and
# Czech.
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
# What `str.lower` and case-insensitive patterns see differently: the letters i of Turkish
# (`NİSAN`, and `KASIM` for a word with the other one) and the long s.
_LOWER_CASE: Final = str.maketrans({"İ": "i", "ı": "i", "ſ": "s"})  # noqa: RUF001 - Turkish


def in_lower_case(text: str) -> str:
    """*text* as patterns in lower case read it that stand for case-insensitive ones."""
    return text.lower() if text.isascii() else text.translate(_LOWER_CASE).lower()


_MONTH_NUMBER: Final = {in_lower_case(name): number for name, number in MONTH_NUMBER.items()}
# With the case given and the first letters ahead, an alternative costs one comparison: without,
# each place of a text that is no month costs a call for each of 200 names.
_INITIALS: Final = "".join(sorted({name[0] for name in _MONTH_NUMBER}))
_NAMES: Final = "|".join(sorted(map(re.escape, _MONTH_NUMBER), key=len, reverse=True))
_MONTH: Final = rf"(?-i:(?=[{_INITIALS}])(?:{_NAMES}))"

# --- zones by name --------------------------------------------------------------------------------

# Hours from UTC. Abbreviations of several zones (IST, BST, AST, CST outside RFC 2822 dates) are
# absent: no zone is better than a wrong one.
_HOURS: Final = """
z 0 utc 0 gmt 0 ut 0 est -5 edt -4 cdt -5 mst -7 mdt -6 pst -8 pdt -7
cet 1 cest 2 mez 1 mesz 2 eet 2 eest 3 jst 9 kst 9
""".split()
ZONE_HOURS: Final = dict(zip(_HOURS[::2], map(int, _HOURS[1::2]), strict=True))

# --- numeric days in different orders -------------------------------------------------------------

# Languages, and regions of English, in which `05/03/2024` is the fifth of March.
DAY_FIRST: Final = frozenset(
    "ar bg ca cs da de el es fi fr gl he hr id is it ms nb nl nn no pl pt ro ru sk sl sr sv th tr "
    "uk vi en-au en-gb en-ie en-in en-nz".split()
)
MONTH_FIRST: Final = frozenset({"en-us"})

# --- formats --------------------------------------------------------------------------------------


class DateFormat(NamedTuple):
    """One way to write a day, a time or a zone in lower case; the groups of *pattern* are parts."""

    name: str
    examples: tuple[str, ...]
    pattern: re.Pattern[str]


def _format(name: str, examples: str, pattern: str) -> DateFormat:
    return DateFormat(name, tuple(examples.split("; ")), re.compile(pattern, re.IGNORECASE))


_WEEKDAY: Final = r"(?:[^\W\d_]{2,12}\.?,?\s+)?"  # any word: too many languages to list them
_NTH: Final = r"(?:st|nd|rd|th|er|º|°|ª|\.)?"

# Groups: y, m or month, d; or a and b for two numbers in either order; time if it is inside.
DAYS: Final[tuple[DateFormat, ...]] = (
    _format(
        "year first",
        "2024-03-05; 2024/3/5; 2024.03.05",
        r"(?<!\d)(?P<y>\d{4})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})(?!\d)",
    ),
    _format(
        "compact",
        "20240305",
        r"(?<![\w./-])(?P<y>(?:19|20)\d\d)(?P<m>\d\d)(?P<d>\d\d)(?=T?\d{6}|T\d|\D|$)",
    ),
    _format(
        "characters",
        "2024年3月5日; 2024년 3월 5일",
        r"(?P<y>\d{4})\s?[年년]\s?(?P<m>\d{1,2})\s?[月월]\s?(?P<d>\d{1,2})\s?[日일]",
    ),
    _format(
        "Java",
        "Mar 05 10:00:00 CET 2024",
        rf"(?<!\w)(?P<month>{_MONTH})\s+(?P<d>\d{{1,2}})\s+"
        r"(?P<time>\d{1,2}:\d{2}:\d{2}\s+[A-Z]{1,5})\s+(?P<y>\d{4})(?!\d)",
    ),
    _format(
        "month first",
        "March 5, 2024",
        rf"(?<!\w)(?P<month>{_MONTH})\.?\s+(?P<d>\d{{1,2}}){_NTH}(?:,\s*|\s+)(?P<y>\d{{4}})(?!\d)",
    ),
    _format(
        "day first",
        "5 March 2024; 5. März 2024; 5 de marzo de 2024; 05-Mar-2024",
        rf"(?<![\d:])(?P<d>\d{{1,2}}){_NTH}[\s-]*(?:(?:of|de|d')\s+)?(?P<month>{_MONTH})"
        r"\.?,?[\s-]+(?:(?:de|del)\s+)?(?P<y>\d{4})(?!\d)",
    ),
    _format(
        "dotted",
        "05.03.2024",
        r"(?<![\d.])(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.\s?(?P<y>\d{4})(?!\w)",
    ),
    _format(
        "two numbers",
        "13/03/2024; 03-13-2024",
        r"(?<![\d/-])(?P<a>\d{1,2})(?P<s>[-/])(?P<b>\d{1,2})(?P=s)(?P<y>\d{4})(?!\w)",
    ),
)

# A day is searched where it may begin: with a digit, or with the name of its month.
_BY_NUMBER: Final = tuple(each for each in DAYS if each.examples[0][0].isdecimal())
_BY_NAME: Final = tuple(each for each in DAYS if each not in _BY_NUMBER)

# Between a day and its time: `T`, a comma, a dash, a word (`at`, `um`, `às`).
_BEFORE_TIME: Final = (
    r"\s?(?:T|,|-|–|—|\||·|•|\(|:|\s)?\s*(?:(?:at|um|à|a\s+las|às|alle|kl\.?|om|o)\s+)?"  # noqa: RUF001
)
# Groups: hour, minute, second.
TIMES: Final[tuple[DateFormat, ...]] = (
    _format("compact", "100000; T100000", r"T?(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})"),
    _format(
        "separated",
        "10:00; T10:00:00.123; at 10.30; à 10h30; 10時30",
        _BEFORE_TIME + r"(?P<hour>\d{1,2})[:.hH時시]\s?(?P<minute>\d{2})"
        r"(?:[:.分]?(?P<second>\d{2}))?(?:[.,:]\d{1,9})?",
    ),
)
_AM_PM: Final = re.compile(r"\s*(?P<half>[ap])\.?m\b\.?", re.IGNORECASE)
_BEFORE_ZONE: Final = re.compile(r"\s*(?:Uhr\b|hrs?\b)?\s*\(?", re.IGNORECASE)
# Groups: sign, hours, minutes; or name.
ZONES: Final[tuple[DateFormat, ...]] = (
    _format(
        "offset",
        "+01:00; -0330; +01; GMT+1",
        r"(?:UTC|GMT)?(?P<sign>[+-])(?P<hours>\d{1,2}):?(?P<minutes>\d{2})?(?!\d)",
    ),
    _format("name", "Z; CET", r"(?P<name>[A-Z]{1,4})\b"),
)
_DIGIT: Final = re.compile(r"\d")
# The digits of a year in a text, without which no line of prose has a date.
year_in: Final = re.compile(r"(?:19|20)\d\d").search
_EPOCH: Final = re.compile(r"(\d{10})(\d{3})?(?:\.\d+)?")
_LEADING: Final = re.compile(rf"\W*{_WEEKDAY}", re.IGNORECASE)
# As most pages write a moment: `2024-03-05T10:00:00.123+01:00`. No zone is beyond `MAX_OFFSET`.
_ISO: Final = re.compile(
    r"(\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.\d{1,9})?"
    r"(?:(Z)|([+-](?:0\d|1[0-3]):[0-5]\d))?",
    re.ASCII,
)


def parse(text: str, language: str | None = None, *, day_first: bool | None = None) -> str | None:
    """The date in *text*, the value of an attribute: with at most one word in front of it.

    Whether the day comes first in `05/03/2024` is decided by *day_first*, or else by *language*.
    """
    text = text[:MAX_LENGTH]
    if moment := iso_moment(text):
        return moment
    is_first = _is_day_first(language) if day_first is None else day_first
    return in_any_format(text, day_first=is_first)


def iso_moment(text: str) -> str | None:
    """What `in_any_format` reads as a moment in ISO 8601, in a third of its time."""
    found = _ISO.fullmatch(text)
    if not found:
        return None
    seconds, utc, offset = found.groups()
    try:
        moment = datetime.fromisoformat(seconds + ("+00:00" if utc else offset or ""))
    except ValueError:  # a day that does not exist
        return None
    return moment.isoformat() if _is_plausible(moment.date()) else None


@lru_cache(2**10)  # one place of a page after the other may have the same dates
def in_any_format(text: str, *, day_first: bool | None) -> str | None:
    """The date that *text* begins with, or has after one word, in one of `DAYS`."""
    if not _DIGIT.search(text):
        return None
    text = _on_one_line(text)
    epoch = _EPOCH.fullmatch(text)
    if epoch:
        moment = datetime.fromtimestamp(int(epoch[1]), timezone.utc)
        return moment.isoformat() if _is_plausible(moment.date()) else None
    weekday = _LEADING.match(text)
    matches = (
        match
        for start in sorted({0, weekday.end() if weekday else 0})
        for each in (_BY_NUMBER if text[start : start + 1].isdecimal() else _BY_NAME)
        if (match := each.pattern.match(text, start))
    )
    return _first_date(matches, day_first=day_first)


def find(text: str, language: str | None = None) -> str | None:
    """The first date in a line of prose, such as `Published on March 5, 2024 at 10:00`."""
    if not year_in(text):
        return None
    text = _on_one_line(text)
    matches = (match for each in DAYS if (match := each.pattern.search(text)))
    in_order = sorted(matches, key=lambda match: match.start())
    return _first_date(in_order, day_first=_is_day_first(language))


def days_between(one: str, other: str) -> int:
    """The number of days between two dates in ISO 8601."""
    return abs((date.fromisoformat(one[:10]) - date.fromisoformat(other[:10])).days)


def _on_one_line(text: str) -> str:
    return in_lower_case(" ".join(text[:MAX_LENGTH].split()))


def _is_day_first(language: str | None) -> bool | None:
    """The order of day and month in numeric dates; None if *language* does not decide it."""
    tag = (language or "").replace("_", "-").lower()
    if not tag.startswith("en-"):  # the region matters in English alone
        tag = tag.partition("-")[0]
    if tag in DAY_FIRST:
        return True
    return False if tag in MONTH_FIRST else None


def _first_date(matches: Iterable[re.Match[str]], *, day_first: bool | None) -> str | None:
    """The first of *matches* that is an existing and plausible day, with its time."""
    for match in matches:
        parts = match.groupdict()
        day = _day(parts, day_first=day_first)
        if day and _is_plausible(day):
            return _with_time(day, parts.get("time") or match.string[match.end() :])
    return None


def _is_plausible(day: date) -> bool:
    return FIRST_YEAR <= day.year <= LAST_YEAR and day not in PLACEHOLDER_DAYS


def _day(parts: Mapping[str, str | None], *, day_first: bool | None) -> date | None:
    """The day with *parts*; None if it does not exist or could be another one."""
    month, day = int(parts.get("m") or 0), int(parts.get("d") or 0)
    if "a" in parts:
        first, second = int(parts["a"] or 0), int(parts["b"] or 0)
        if first > N_MONTHS or first == second or day_first:
            month, day = second, first
        elif second > N_MONTHS or day_first is False:
            month, day = first, second
        # Else either may be the month: both stay 0, which no `date` takes.
    elif name := parts.get("month"):
        month = _MONTH_NUMBER[name]
    try:
        return date(int(parts["y"] or 0), month, day)
    except ValueError:
        return None


def _with_time(day: date, rest: str) -> str:
    """Day and time in ISO 8601; the day alone unless *rest* begins with a time that exists."""
    time = next((match for each in TIMES if (match := each.pattern.match(rest))), None)
    if not time:
        return day.isoformat()
    hour, minute, second = (int(time[part] or 0) for part in ("hour", "minute", "second"))
    rest = rest[time.end() :]
    half = _AM_PM.match(rest)
    if half:
        hour = hour % HALF_DAY + (HALF_DAY if half["half"].lower() == "p" else 0)
        rest = rest[half.end() :]
    try:
        moment = datetime(day.year, day.month, day.day, hour, minute, second, tzinfo=_zone(rest))
    except ValueError:
        return day.isoformat()
    return moment.isoformat()


def _zone(rest: str) -> timezone | None:
    """The zone that *rest* begins with; None if there is none or it is ambiguous."""
    before = _BEFORE_ZONE.match(rest)
    start = before.end() if before else 0
    zone = next((match for each in ZONES if (match := each.pattern.match(rest, start))), None)
    if not zone:
        return None
    parts = zone.groupdict()
    if "name" in parts:
        hours = ZONE_HOURS.get(parts["name"].lower())
        return None if hours is None else timezone(timedelta(hours=hours))
    offset = timedelta(hours=int(parts["hours"]), minutes=int(parts["minutes"] or 0))
    return timezone(-offset if parts["sign"] == "-" else offset) if offset <= MAX_OFFSET else None


# --- the dates of an article ----------------------------------------------------------------------

DAY_LENGTH: Final = len("2024-03-05")
MAX_DAYS_BETWEEN: Final = 1  # a day in one zone begins in another
UTC_OFFSETS: Final = (timedelta(hours=-12), timedelta(hours=14))  # from UTC
ZONE_STEP: Final = timedelta(minutes=15)  # zones are apart by a multiple of it
MAX_DIFFERENCE: Final = timedelta(minutes=1)  # one of two sources may leave out the seconds


class Moments(NamedTuple):
    """When an article was published and last changed; None if that is not known."""

    published: str | None = None
    modified: str | None = None

    def settled(self) -> Moments:
        """The same in UTC where there are zones, without a change before the publication."""
        published, modified = map(in_utc, self)
        if published and modified and _is_before(modified, published):
            modified = None
        return Moments(published, modified)

    def confirmed_by(self, listed: Moments) -> Moments:
        """The same as far as the page gives it, else as a feed or sitemap has it."""
        return Moments(*(_better(*both) for both in zip(self, listed, strict=True))).settled()


def in_utc(moment: str | None) -> str | None:
    """*moment* in UTC if it has a zone, else as it is."""
    read = datetime.fromisoformat(moment) if moment else None
    if read is None or read.tzinfo is None:
        return moment
    return read.astimezone(timezone.utc).isoformat()


def _is_before(one: str, other: str) -> bool:
    """Whether *one* is earlier, as far as both are given."""
    first, second = map(datetime.fromisoformat, (one, other))
    if min(len(one), len(other)) <= DAY_LENGTH:
        return first.date() < second.date()
    if first.tzinfo is None or second.tzinfo is None:
        return first.replace(tzinfo=None) < second.replace(tzinfo=None)
    return first < second


def _better(of_page: str | None, listed: str | None) -> str | None:
    """The moment of the page; that of a list where it is the same, and more precise."""
    if not of_page or not listed:
        return of_page or listed
    page, other = map(datetime.fromisoformat, (of_page, listed))
    if page.tzinfo is not None or other.tzinfo is None:
        return of_page
    other = other.astimezone(timezone.utc).replace(tzinfo=None)
    if len(of_page) <= DAY_LENGTH:
        days = abs((page.date() - other.date()).days)
        return listed if days <= MAX_DAYS_BETWEEN else of_page
    return listed if _is_zone(page - other) else of_page


def _is_zone(offset: timedelta) -> bool:
    """Whether two times of one moment can be *offset* apart, since one of them is local."""
    least, most = UTC_OFFSETS
    nearest = round(offset / ZONE_STEP) * ZONE_STEP
    return least <= nearest <= most and abs(offset - nearest) <= MAX_DIFFERENCE
