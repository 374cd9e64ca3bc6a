"""Numbers and names as people read them."""

import re

from lsmlens.analyzer.printable import GROUP_SPACE
from lsmlens.analyzer.units import MIB

MINUTE, HOUR, DAY = 60, 3600, 86_400
# write_buffer_size, max_bytes_for_level_base, osd_memory_target, …; not max_bytes_for_level_multiplier
_COUNT = re.compile(r"\d{1,20}", re.ASCII)  # no option takes more than 64 bits
_OF_BYTES = re.compile(r"(size|bytes|memory_target|write_rate)(?!.*(multiplier|ratio|percent|num|bits))")
_ASSIGNED = re.compile(r"(\w+)=(\d{1,20})(?![\w.])", re.ASCII)


def plain(value: float | None, digits: int = 6) -> str:
    """A number with as many decimals as it has, at most `digits` significant ones; large ones whole: `10 000`."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}".replace(",", GROUP_SPACE) if abs(value) >= 10_000 else str(value)
    if abs(value) >= min(10_000, 10 ** (digits - 1)):
        return plain(round(value), digits)
    return f"{value:.{digits}g}"


def mib(size: int) -> str:
    """Bytes as MiB with one decimal, two below 10."""
    value = size / MIB
    return f"{value:.1f}" if value >= 10 or size == 0 else f"{value:.2f}" if value >= 0.005 else "<0.01"


def ratio(value: float | None) -> str:
    """A ratio with three decimals."""
    return "-" if value is None else f"{value:.3f}"


def size(count: float) -> str:
    """Bytes in the unit that leaves one to three digits before the point: `512 B`, `2.4 GiB`, `256 MiB`."""
    value, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(value) < 1023.95 or unit == "TiB":
            break
        value /= 1024
    return f"{value:.1f}".removesuffix(".0") + f" {unit}"


def setting(name: str, value: str) -> str:
    """An option's value; of bytes, and where they are whole KiB, in their unit: `256 MiB`. So in a list of options."""
    if "=" in value:
        return _ASSIGNED.sub(lambda one: f"{one[1]}={setting(one[1], one[2])}", value)
    if not _COUNT.fullmatch(value):
        return value
    if not _OF_BYTES.search(name) or int(value) == 0 or int(value) % 1024:
        return plain(int(value))
    count, unit = int(value) // 1024, "KiB"
    for larger in ("MiB", "GiB", "TiB"):
        if count % 1024:
            break
        count, unit = count // 1024, larger
    return f"{plain(count)} {unit}"


def percent(value: float | None, digits: int = 1) -> str:
    """A share of one as per cent: `4.0 %`."""
    return "-" if value is None else f"{100 * value:.{digits}f} %"


def bytes_of(count: float | None) -> str:
    """Bytes that may not be known, as `size`."""
    return "-" if count is None else size(round(count))


def time_of(seconds: float | None) -> str:
    """A length of time that may not be known, as `duration`."""
    return "-" if seconds is None else duration(seconds)


def duration(seconds: float) -> str:
    """A length of time in the unit that fits: `83.8 µs`, `1.86 ms`, `2.5 s`, `2 min`, `1 h 30 min`, `3 d`."""
    if 0 < seconds < 1e-7:
        return "<0.1 µs"
    for unit, scale in (("µs", 1e6), ("ms", 1e3)):
        if 0 < seconds * scale < 999.5:
            return f"{seconds * scale:.3g} {unit}"
    if seconds < MINUTE:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    parts = [
        (whole // DAY, "d"),
        (whole % DAY // HOUR, "h"),
        (whole % HOUR // MINUTE, "min"),
        (whole % MINUTE, "s"),
    ]
    said = [(count, unit) for count, unit in parts if count]
    return " ".join(f"{count} {unit}" for count, unit in said[:2])


def counted(count: int, word: str, words: str = "") -> str:
    """A number of things: `1 file`, `2 files`, `3 flushes`; `words` is the plural where it is made otherwise."""
    plural = f"{word}es" if word.endswith("sh") else f"{word}s"
    return f"{plain(count)} {word if count == 1 else words or plural}"


def file_name(path: str) -> str:
    """The last part of a member's path, inside an archive or not."""
    return path.replace("!", "/").rsplit("/", 1)[-1]
