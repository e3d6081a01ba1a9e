"""Publication and change in UTC, with what a feed adds."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.metadata.dates import Moments, in_utc

NOW = datetime(2024, 3, 5, 10, 0, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2024-03-05T10:00:00+01:00", "2024-03-05T09:00:00+00:00"),
        ("2024-03-05T23:30:00-05:00", "2024-03-06T04:30:00+00:00"),
        ("2024-03-05T09:00:00+00:00", "2024-03-05T09:00:00+00:00"),
        # Nobody knows the zone: nothing is shifted.
        ("2024-03-05T10:00:00", "2024-03-05T10:00:00"),
        ("2024-03-05", "2024-03-05"),
        (None, None),
    ],
)
def test_a_moment_with_a_zone_is_in_utc_and_any_other_stays(
    given: str | None, expected: str | None
) -> None:
    assert in_utc(given) == expected


@pytest.mark.parametrize(
    ("published", "modified", "kept"),
    [
        ("2024-03-05T10:00:00+00:00", "2024-03-05T09:59:59+00:00", False),
        ("2024-03-05T10:00:00+00:00", "2024-03-05T10:00:00+00:00", True),
        ("2024-03-05T10:00:00+01:00", "2024-03-05T09:30:00+00:00", True),
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

    assert settled == (in_utc(published), in_utc(modified) if kept else None)


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
        (
            "2024-03-05T10:00:00+00:00",
            "2024-03-05T09:00:00+00:00",
            "2024-03-05T10:00:00+00:00",
        ),
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


def test_a_change_that_a_list_dates_before_the_publication_is_none() -> None:
    found = Moments("2024-03-05").confirmed_by(Moments(None, "2024-03-01T10:00:00+00:00"))

    assert found == ("2024-03-05", None)


ZONES = st.integers(-12 * 4, 14 * 4).map(lambda n: timezone(timedelta(minutes=15 * n)))
TIMES = st.builds(
    datetime.fromtimestamp,
    st.integers(700_000_000, 3_700_000_000),  # from 1992 to 2087
    ZONES,
)


@given(TIMES)
def test_the_moment_is_the_same_in_utc(moment: datetime) -> None:
    found = in_utc(moment.isoformat())

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
