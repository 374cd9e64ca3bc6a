"""Numbers and names as people read them."""

import re

from lsmlens.analyzer.printable import GROUP_SPACE
from lsmlens.analyzer.units import MIB

MINUTE, HOUR, DAY = 60, 3600, 86_400
# write_buffer_size, max_bytes_for_level_base, osd_memory_target, …; not max_bytes_for_level_multiplier
_COUNT = re.compile(r"\d{1,20}", re.ASCII)  # no option takes more than 64 bits
_OF_BYTES = re.compile(r"(size|bytes|memory_target|write_rate)(?!.*(multiplier|ratio|percent|num|bits))")


def plain(value: float | None, digits: int = 6) -> str:
    """A number with as many decimals as it has, at most `digits` significant ones; whole numbers whole."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}".replace(",", GROUP_SPACE) if abs(value) >= 10_000 else str(value)
    if abs(value) >= 10 ** (digits - 1):
        return plain(round(value), digits)
    return f"{value:.{digits}g}"


def mib(size: int) -> str:
    """Bytes as MiB with one decimal, two below 10."""
    value = size / MIB
    return f"{value:.1f}" if value >= 10 or size == 0 else f"{value:.2f}" if value >= 0.005 else "<0.01"


def ratio(value: float | None) -> str:
    """A ratio with three decimals."""
    return "-" if value is None else f"{value:.3f}"


def size(count: int) -> str:
    """Bytes in the unit that leaves one to three digits before the point."""
    value, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"


def setting(name: str, value: str) -> str:
    """An option's value; of bytes, and where they are whole KiB, in their unit: `256 MiB`."""
    if not _OF_BYTES.search(name) or not _COUNT.fullmatch(value) or int(value) == 0 or int(value) % 1024:
        return value
    count, unit = int(value) // 1024, "KiB"
    for larger in ("MiB", "GiB", "TiB"):
        if count % 1024:
            break
        count, unit = count // 1024, larger
    return f"{plain(count)} {unit}"


def share(value: float | None) -> str:
    """A share of one as per cent."""
    return "-" if value is None else f"{100 * value:.1f} %"


def bytes_of(count: float | None) -> str:
    """Bytes that may not be known, as `size`."""
    return "-" if count is None else size(round(count))


def millis(seconds: float | None) -> str:
    """Seconds as milliseconds with three significant digits, down to 0.1 µs; from a second on whole ones."""
    if seconds is None:
        return "-"
    if seconds >= 0.9995:
        return f"{1000 * seconds:.0f} ms"
    return "<0.0001 ms" if 0 < seconds < 1e-7 else f"{1000 * seconds:.3g} ms"


def duration(seconds: float) -> str:
    """A length of time in words: `0.5 s`, `2 min`, `1 h 30 min`, `3 d`."""
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
    """A number of things: `1 file`, `2 files`; `words` is the plural where it is not made by an s."""
    return f"{plain(count)} {word if count == 1 else words or f'{word}s'}"


def file_name(path: str) -> str:
    """The last part of a member's path, inside an archive or not."""
    return path.replace("!", "/").rsplit("/", 1)[-1]
