from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.metadata import dates
from scrapy_mss.metadata.dates import Moments

DATES = [
    # As machines write them.
    ("2024-03-05T10:00:00+0100", "2024-03-05T10:00:00+01:00"),
    ("2024-03-05T10:00:00,123456+01:00", "2024-03-05T10:00:00+01:00"),
    ("2024-03-05T10:00:00+01:00[Europe/Berlin]", "2024-03-05T10:00:00+01:00"),
    ("20240305T100000Z", "2024-03-05T10:00:00+00:00"),
    ("20240305100000", "2024-03-05T10:00:00"),
    ("20240305T100000 CET", "2024-03-05T10:00:00+01:00"),
    ("1709632800", "2024-03-05T10:00:00+00:00"),
    ("1709632800123", "2024-03-05T10:00:00+00:00"),
    # RFC 2822, and what Java and JavaScript print.
    ("Tue, 05 Mar 2024 10:00:00 +0100", "2024-03-05T10:00:00+01:00"),
    ("05 Mar 2024 10:00 EST", "2024-03-05T10:00:00-05:00"),
    ("Tue Mar 05 10:00:00 CET 2024", "2024-03-05T10:00:00+01:00"),
    ("Tue Mar 05 2024 10:00:00 GMT+0100 (CET)", "2024-03-05T10:00:00+01:00"),
    # As people write them.
    ("Mar. 5th, 2024", "2024-03-05"),
    ("March 5, 2024 at 4:05 pm", "2024-03-05T16:05:00"),
    ("March 5, 2024, 12:05 a.m. ET", "2024-03-05T00:05:00"),
    ("5. März 2024, 10:30 Uhr", "2024-03-05T10:30:00"),
    ("5 mars 2024 à 10h30", "2024-03-05T10:30:00"),
    ("1er août 2024", "2024-08-01"),
    ("5 NİSAN 2024", "2024-04-05"),
    ("5 \u017fept 2024", "2024-09-05"),
    ("05.03.2024 - 10:30", "2024-03-05T10:30:00"),
    ("2024年3月5日 10時30分", "2024-03-05T10:30:00"),
    ("03/03/2024", "2024-03-03"),
]
# Of two numbers either may be the day, and only a weekday may precede the date.
NOT_DATES = [
    *("", "today", "3 hours ago", "2024", "2024-03", "March 2024", "2024-13-05", "2024-02-30"),
    *("30 February 2024", "05/03/2024", "0001-01-01T00:00:00", "1970-01-01T00:00:00Z", "0"),
    *("99999999999999", "12345", "Version 10.2.2024b", "last updated 2024-03-05"),
]
LANGUAGES = [
    ("en-GB", "2024-03-05"),
    ("en_US", "2024-05-03"),
    ("de", "2024-03-05"),
    ("en", None),
    ("zz", None),
    (None, None),
]
IN_PROSE = [
    ("Published on March 5, 2024 at 10:00", "2024-03-05T10:00:00"),
    ("Stand: 05.03.2024 10:30 Uhr", "2024-03-05T10:30:00"),
    ("Published 5 March 2024 | Updated 6 March 2024", "2024-03-05"),
    ("no date but 12345", None),
    ("1.2024 to 3.2024", None),
    ("2024-03-05-17", "2024-03-05"),
]


@pytest.mark.parametrize(("text", "expected"), [*DATES, *((text, None) for text in NOT_DATES)])
def test_dates_are_as_precise_as_the_text(text: str, expected: str | None) -> None:
    assert dates.parse(text) == expected


@pytest.mark.parametrize(("language", "expected"), LANGUAGES)
def test_the_language_decides_the_order_of_day_and_month(
    language: str | None, expected: str | None
) -> None:
    assert dates.parse("05/03/2024", language) == expected


@pytest.mark.parametrize(("text", "expected"), IN_PROSE)
def test_the_first_date_in_prose_is_found(text: str, expected: str | None) -> None:
    assert dates.find(text) == expected


@pytest.mark.parametrize("zone", ["IST", "BST", "XYZ", "+2500", "ET"])
def test_an_ambiguous_or_impossible_zone_is_dropped(zone: str) -> None:
    assert dates.parse(f"2024-03-05 10:00 {zone}") == "2024-03-05T10:00:00"


@pytest.mark.parametrize("time", ["25:00", "10:61", "24:00:00", "13:00 pm extra"])
def test_an_impossible_time_leaves_the_day(time: str) -> None:
    assert str(dates.parse(f"2024-03-05 {time}"))[:10] == "2024-03-05"


def test_no_name_means_two_months() -> None:
    rows = [line.split() for line in dates.MONTHS.split("\n")[1:-1]]
    names = {(name, row[0]) for row in rows for name in row[1:]}

    assert len(names) == len({name for name, _ in names}) == len(dates.MONTH_NUMBER)


def test_a_given_order_overrides_the_language() -> None:
    assert dates.parse("05/03/2024", "en-US", day_first=True) == "2024-03-05"
    assert dates.parse("05/03/2024", "de", day_first=False) == "2024-05-03"


# Each table of formats with a text around an example, and how its date is written.
FORMATS = [
    (dates.DAYS, "On {}, as they say", r"2024-03-(05|13)"),
    (dates.TIMES, "2024年3月5日{}", "2024-03-05T10:"),
    (dates.ZONES, "2024-03-05 10:00 {}", "2024-03-05T10:00:00[+-]"),
]


@pytest.mark.parametrize(("table", "around", "expected"), FORMATS)
def test_each_example_is_matched_by_its_row(
    table: tuple[dates.DateFormat, ...], around: str, expected: str
) -> None:
    for row in table:
        for example in row.examples:
            assert row.pattern.fullmatch(dates.in_lower_case(example)), example
            assert re.match(expected, str(dates.find(around.format(example)))), example


@given(st.datetimes(datetime(1971, 1, 1), datetime(2099, 1, 1), timezones=st.timezones()))  # noqa: DTZ001 - hypothesis adds the zones
def test_parse_inverts_isoformat(moment: datetime) -> None:
    whole = moment.replace(microsecond=0)
    offset = whole.utcoffset()
    if offset is None or offset.total_seconds() % 60:  # ISO 8601 has no seconds in offsets
        return

    assert dates.parse(whole.isoformat()) == whole.isoformat()


MOMENTS = st.from_regex(
    r"(?:0000|1900|1970|2024)-(?:0[0-9]|1[0-3])-[0-3][0-9]T(?:0[0-9]|1[0-9]|2[0-5]):(?:00|59|60):"
    r"(?:00|30|59|60)(?:\.[0-9]{1,10})?(?:Z|z|[+-](?:0[0-9]|1[0-5]):(?:00|30|59|60|0))?",
    fullmatch=True,
)


@given(MOMENTS)
def test_moments_in_iso_8601_are_read_as_by_the_formats(text: str) -> None:
    quick = dates.iso_moment(text)

    assert quick in (None, dates.in_any_format(text, day_first=None))


@given(st.text(max_size=60) | st.from_regex(r"[0-9T:+Z./ -]{0,40}", fullmatch=True))
def test_any_text_gives_a_date_or_none(text: str) -> None:
    for found in (dates.parse(text), dates.find(text, "de")):
        assert found is None or date.fromisoformat(found[:10]).year >= dates.FIRST_YEAR


def test_names_of_months_are_read_in_capitals() -> None:
    for name in dates.MONTH_NUMBER:
        assert dates.parse(f"5 {name.upper()} 2024") == dates.parse(f"5 {name} 2024") is not None


# Publication and change in UTC, with what a feed adds


@pytest.mark.parametrize(
    ("published", "modified", "kept"),
    [
        ("2024-03-05", "2024-03-04", False),
        ("2024-03-05", "2024-03-05", True),
        ("2024-03-05T10:00:00", "2024-03-05", True),
        ("2024-03-05T10:00:00", "2024-03-05T09:00:00+00:00", False),
        (None, "2024-03-05", True),
    ],
)
def test_no_article_is_changed_before_it_is_published(
    published: str | None, modified: str, *, kept: bool
) -> None:
    settled = Moments(published, modified).settled()

    assert settled == (dates.in_utc(published), dates.in_utc(modified) if kept else None)


@pytest.mark.parametrize(
    ("of_page", "listed", "expected"),
    [
        # A day and a time without a zone become the list's time, where they can be the same.
        ("2024-03-05", "2024-03-05T09:00:00+00:00", "2024-03-05T09:00:00+00:00"),
        ("2024-03-06", "2024-03-05T23:00:00+00:00", "2024-03-05T23:00:00+00:00"),
        ("2024-03-05T10:00:00", "2024-03-05T10:00:12+01:00", "2024-03-05T09:00:12+00:00"),
        ("2024-03-05T15:30:00", "2024-03-05T10:00:00+00:00", "2024-03-05T10:00:00+00:00"),
        # They cannot: the list's is of a later revision, say.
        ("2024-03-05", "2024-03-09T09:00:00+00:00", "2024-03-05"),
        ("2024-03-05T10:00:00", "2024-03-05T10:07:00+00:00", "2024-03-05T10:00:00"),
        ("2024-03-05T10:00:00", "2024-03-06T02:00:00+00:00", "2024-03-05T10:00:00"),
        # The page's zone is the page's.
        ("2024-03-05T10:00:00+00:00", "2024-03-05T09:00:00+00:00", "2024-03-05T10:00:00+00:00"),
        (None, "2024-03-05T10:00:00+01:00", "2024-03-05T09:00:00+00:00"),
        (None, "2024-03-05T10:00:00", "2024-03-05T10:00:00"),
        ("2024-03-05", None, "2024-03-05"),
        ("2024-03-05", "2024-03-05T10:00:00", "2024-03-05"),
    ],
)
def test_a_list_gives_the_time_that_the_page_does_not(
    of_page: str | None, listed: str | None, expected: str
) -> None:
    assert Moments(of_page).confirmed_by(Moments(listed)).published == expected


ZONES = st.integers(-12 * 4, 14 * 4).map(lambda n: timezone(timedelta(minutes=15 * n)))
TIMES = st.builds(
    datetime.fromtimestamp,
    st.integers(700_000_000, 3_700_000_000),  # from 1992 to 2087
    ZONES,
)


@given(TIMES)
def test_the_moment_is_the_same_in_utc(moment: datetime) -> None:
    found = dates.in_utc(moment.isoformat())

    assert found is not None
    assert datetime.fromisoformat(found) == moment
    assert found.endswith("+00:00")


@given(TIMES, TIMES)
def test_a_settled_change_is_never_earlier(one: datetime, other: datetime) -> None:
    published, modified = Moments(one.isoformat(), other.isoformat()).settled()

    assert published is not None
    assert (modified is None) == (other < one)


@given(TIMES)
def test_the_local_time_of_a_page_is_found_in_a_feed_of_the_same_moment(moment: datetime) -> None:
    local = moment.replace(tzinfo=None).isoformat()
    listed = moment.astimezone(timezone.utc).isoformat()

    assert Moments(local).confirmed_by(Moments(listed)).published == listed
