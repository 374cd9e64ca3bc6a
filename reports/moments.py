"""Moments as ISO 8601 text, in UTC where the log's zone is known."""


def moment(local_millis: float | None, utc_offset_seconds: int | None) -> str | None:
    """A log's local time (milliseconds since 1970) as text, UTC with a Z where its zone is known."""
    if local_millis is None:
        return None
    from datetime import datetime, timedelta

    shift = 0 if utc_offset_seconds is None else utc_offset_seconds
    try:
        when = datetime(1970, 1, 1) + timedelta(milliseconds=round(local_millis) - 1000 * shift)
    except OverflowError:
        return None
    return when.isoformat(timespec="milliseconds") + ("" if utc_offset_seconds is None else "Z")


def moment_of_micros(micros: int | None) -> str | None:
    """Microseconds since 1970 UTC as text."""
    return None if micros is None else moment(micros / 1000, 0)
