"""Where things lie on pandas' calendar and scales, as parts: time stamps and zones, periods, intervals."""

from __future__ import annotations

import datetime as dt
import re

import numpy as np
import pandas as pd

from viva.engine.values.arrays import SCALARS
from viva.engine.values.codec import ZONES
from viva.engine.values.scalars import ForeignError, malformed, numbers, want

SPAN = re.compile(r"\d{0,4}([YQW]-[A-Z]{3}|[MDh]|min|s|ms|us|ns)")
"""How long a period is."""
SPANS = 4_000_000
"""So many days, or whatever is longer, lie between 1970 and a period at most: pandas reckons with 32 bits."""
PER_DAY = {"h": 24, "min": 1440, "s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
ENDS = frozenset((int, float, pd.Timestamp, pd.Timedelta, *SCALARS))
"""What an interval can lie between."""


def split_zoned(array) -> list:
    """The parts of a column of dates with a time zone."""
    if type(array.tz) not in ZONES:
        raise ForeignError
    return [array.tz_convert(None).to_numpy(), array.tz]


def zoned(utc, zone):
    """That column."""
    return pd.DatetimeIndex(numbers(utc, "M")).tz_localize("UTC").tz_convert(want(zone, *ZONES[1:])).array


def split_periods(array) -> list:
    """The parts of a column of periods."""
    if not SPAN.fullmatch(array.freqstr):
        raise ForeignError
    return [array.freqstr, array.asi8]


def periods(span, places):
    """That column."""
    found = SPAN.fullmatch(want(span, str)) or malformed()
    most = min(SPANS * PER_DAY.get(found[1], 1), 2**63 - 1)
    if numbers(places, "i").dtype != np.int64 or (np.abs(places) > most).any():  # NaT stays below zero
        malformed()
    return pd.arrays.PeriodArray(places, dtype=pd.PeriodDtype(span))


def split_period(value) -> list:
    """The parts of a period."""
    span = pd.Period.freqstr.__get__(value)
    if not SPAN.fullmatch(span):
        raise ForeignError
    return [span, pd.Period.ordinal.__get__(value)]


def period(span, place):
    """That period."""
    return periods(span, np.array([want(place, int)], np.int64))[0]


def split_interval(value) -> list:
    """The parts of an interval."""
    ends = [getattr(pd.Interval, name).__get__(value) for name in ("left", "right")]
    if not set(map(type, ends)) <= ENDS:
        raise ForeignError
    return [*ends, pd.Interval.closed.__get__(value)]


def interval(left, right, closed):
    """That interval."""
    return pd.Interval(want(left, *ENDS), want(right, *ENDS), want(closed, str))


def split_stamp(value) -> list:
    """The parts of a time stamp."""
    zone = dt.datetime.tzinfo.__get__(value)
    if type(zone) not in ZONES:
        raise ForeignError
    return [pd.Timestamp.to_datetime64(value), zone]


def stamp(utc, zone):
    """That time stamp."""
    stamp = pd.Timestamp(want(utc, np.datetime64))
    return stamp if want(zone, *ZONES) is None else stamp.tz_localize("UTC").tz_convert(zone)
