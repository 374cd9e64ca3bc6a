"""Durations that people type, such as the length of a window of time."""

# Units in seconds; one stands before those it ends in.
_SECONDS = {"ms": 0.001, "min": 60.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "": 1.0}


def parse_duration(text: str) -> float:
    """Seconds of a duration a person typed: `90`, `90s`, `10m`, `1.5h`, `1 D`.

    Raises ValueError, which says why, for one that is no number and unit, or not above 0 and finite.
    """
    typed = text.strip().lower()
    unit = next(one for one in _SECONDS if typed.endswith(one))
    try:
        seconds = float(typed.removesuffix(unit)) * _SECONDS[unit]
    except ValueError:
        raise ValueError(f"{text} is no time such as 90s, 10m or 2h") from None
    if not 0 < seconds < float("inf"):
        raise ValueError(f"{text} is not above 0")
    return seconds
