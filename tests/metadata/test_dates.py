from __future__ import annotations

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.metadata import dates

READ = [
    # As machines write them.
    ("2024-03-05", "2024-03-05"),
    ("2024-03-05T10:00:00Z", "2024-03-05T10:00:00+00:00"),
    ("2024-03-05T10:00Z", "2024-03-05T10:00:00+00:00"),
    ("2024-03-05T10:00:00+01:00", "2024-03-05T10:00:00+01:00"),
    ("2024-03-05T10:00:00+0100", "2024-03-05T10:00:00+01:00"),
    ("2024-03-05T10:00:00+01", "2024-03-05T10:00:00+01:00"),
    ("2024-03-05T10:00:00-03:30", "2024-03-05T10:00:00-03:30"),
    ("2024-03-05T10:00:00.123Z", "2024-03-05T10:00:00+00:00"),
    ("2024-03-05T10:00:00,123456+01:00", "2024-03-05T10:00:00+01:00"),
    ("2024-03-05T10:00:00+01:00[Europe/Berlin]", "2024-03-05T10:00:00+01:00"),
    ("2024-03-05 10:00:00", "2024-03-05T10:00:00"),
    ("2024-03-05 10:00:00 +0100", "2024-03-05T10:00:00+01:00"),
    ("2024-03-05 10:00:00 UTC", "2024-03-05T10:00:00+00:00"),
    ("2024/3/5", "2024-03-05"),
    ("20240305", "2024-03-05"),
    ("20240305T100000Z", "2024-03-05T10:00:00+00:00"),
    ("20240305100000", "2024-03-05T10:00:00"),
    ("1709632800", "2024-03-05T10:00:00+00:00"),
    ("1709632800123", "2024-03-05T10:00:00+00:00"),
    # RFC 2822, and what Java and JavaScript print.
    ("Tue, 05 Mar 2024 10:00:00 +0100", "2024-03-05T10:00:00+01:00"),
    ("Tue, 05 Mar 2024 10:00:00 GMT", "2024-03-05T10:00:00+00:00"),
    ("05 Mar 2024 10:00 EST", "2024-03-05T10:00:00-05:00"),
    ("Tue Mar 05 10:00:00 CET 2024", "2024-03-05T10:00:00+01:00"),
    ("Tue Mar 05 2024 10:00:00 GMT+0100 (CET)", "2024-03-05T10:00:00+01:00"),
    # As people write them.
    ("March 5, 2024", "2024-03-05"),
    ("Mar. 5th, 2024", "2024-03-05"),
    ("March 5, 2024 at 4:05 pm", "2024-03-05T16:05:00"),
    ("March 5, 2024, 12:05 a.m. ET", "2024-03-05T00:05:00"),
    ("5 March 2024", "2024-03-05"),
    ("5. März 2024, 10:30 Uhr", "2024-03-05T10:30:00"),
    ("5 de marzo de 2024", "2024-03-05"),
    ("5 mars 2024 à 10h30", "2024-03-05T10:30:00"),
    ("1er août 2024", "2024-08-01"),
    ("05-Mar-2024", "2024-03-05"),
    ("5 Şubat 2024", "2024-02-05"),
    ("5 марта 2024", "2024-03-05"),
    ("05.03.2024", "2024-03-05"),
    ("05.03.2024 - 10:30", "2024-03-05T10:30:00"),
    ("2024年3月5日", "2024-03-05"),
    ("2024年3月5日 10時30分", "2024-03-05T10:30:00"),
    ("2024년 3월 5일", "2024-03-05"),
    ("13/03/2024", "2024-03-13"),
    ("03/13/2024", "2024-03-13"),
    ("03/03/2024", "2024-03-03"),
]
NOT_READ = [
    "",
    "today",
    "3 hours ago",
    "2024",
    "2024-03",
    "March 2024",
    "2024-13-05",
    "2024-02-30",
    "30 February 2024",
    "05/03/2024",  # the fifth of March or the third of May
    "0001-01-01T00:00:00",
    "1970-01-01T00:00:00Z",
    "0",
    "99999999999999",
    "12345",
    "Version 10.2.2024b",
    "last updated 2024-03-05",  # an attribute's value begins with the date, or with a weekday
]
LANGUAGES = [
    ("en-GB", "2024-03-05"),
    ("en_US", "2024-05-03"),
    ("de", "2024-03-05"),
    ("fr-CA", "2024-03-05"),
    ("en", None),
    ("zz", None),
    (None, None),
]
FOUND = [
    ("Published on March 5, 2024 at 10:00", "2024-03-05T10:00:00"),
    ("Von Ann Lee, 05.03.2024, 10:30 Uhr", "2024-03-05T10:30:00"),
    ("Stand: 05.03.2024 10:30 Uhr", "2024-03-05T10:30:00"),
    ("Published 5 March 2024 | Updated 6 March 2024", "2024-03-05"),
    ("no date but 12345", None),
    ("1.2024 to 3.2024", None),
    ("2024-03-05-17", "2024-03-05"),
]


@pytest.mark.parametrize(("text", "wanted"), READ)
def test_dates_are_read_as_precisely_as_they_are_written(text: str, wanted: str) -> None:
    assert dates.read(text) == wanted


@pytest.mark.parametrize("text", NOT_READ)
def test_what_is_no_date_gives_none(text: str) -> None:
    assert dates.read(text) is None


@pytest.mark.parametrize(("language", "wanted"), LANGUAGES)
def test_the_language_decides_which_number_is_the_month(
    language: str | None, wanted: str | None
) -> None:
    assert dates.read("05/03/2024", language) == wanted


@pytest.mark.parametrize(("text", "wanted"), FOUND)
def test_the_first_date_of_a_line_is_found(text: str, wanted: str | None) -> None:
    assert dates.find(text) == wanted


@pytest.mark.parametrize("zone", ["IST", "BST", "XYZ", "+2500", "ET"])
def test_a_zone_that_is_unclear_is_left_out(zone: str) -> None:
    assert dates.read(f"2024-03-05 10:00 {zone}") == "2024-03-05T10:00:00"


@pytest.mark.parametrize("time", ["25:00", "10:61", "24:00:00", "13:00 pm extra"])
def test_a_time_that_does_not_exist_leaves_a_day_or_what_is_sure(time: str) -> None:
    found = dates.read(f"2024-03-05 {time}")

    assert found is not None
    assert found[:10] == "2024-03-05"
    assert dates.read(found) == found


def test_no_name_stands_for_two_months() -> None:
    rows = [line.split() for line in dates.MONTHS.split("\n")[1:-1]]
    names = {(name, row[0]) for row in rows for name in row[1:]}

    assert len(names) == len({name for name, _ in names}) == len(dates.MONTH_NUMBER)


@pytest.mark.parametrize("style", dates.DAYS, ids=lambda style: style.name)
def test_the_examples_in_the_table_are_read_by_their_row(style: dates.Style) -> None:
    for example in style.examples:
        assert style.pattern.fullmatch(example) or style.name == "Java"
        assert dates.find(f"On {example}, as they say")


@given(st.datetimes(datetime(1971, 1, 1), datetime(2099, 1, 1), timezones=st.timezones()))  # noqa: DTZ001 - hypothesis adds the zones
def test_what_python_writes_is_read_back(moment: datetime) -> None:
    whole = moment.replace(microsecond=0)
    offset = whole.utcoffset()
    if offset is None or offset.total_seconds() % 60:  # an offset of seconds, which nobody writes
        return

    assert dates.read(whole.isoformat()) == whole.isoformat()


@given(st.text(max_size=60) | st.from_regex(r"[0-9T:+Z./ -]{0,40}", fullmatch=True))
def test_any_text_gives_a_date_or_none(text: str) -> None:
    for found in (dates.read(text), dates.find(text, "de")):
        assert found is None or date.fromisoformat(found[:10]).year >= dates.FIRST_YEAR
