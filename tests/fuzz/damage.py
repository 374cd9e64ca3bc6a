"""Damage to files that were sound: one strategy for all kinds of them.

An edit is small and says what it does, so that Hypothesis shrinks an example to the one edit that matters.
"""

import re
from typing import NamedTuple

from hypothesis import strategies as st

NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")
KEY = re.compile(rb'"([^"\n]{1,60})"\s*:')
VALUE = re.compile(
    rb'(?<=[:,\[] )(?:-?\d+(?:\.\d+)?|"[^"\n]*"|true|false|null)(?=[,}\]])|(?<=: )[^\s,]+$', re.MULTILINE
)
TIME = re.compile(rb"\d{4}[-/]\d\d[-/]\d\d[T-]\d\d:\d\d:\d\d(?:\.\d+)?|\b1[67]\d{8,14}\b")
WORD = re.compile(rb"[A-Za-z_]{3,}")

NUMBERS = (
    *(b"inf", b"-inf", b"nan", b"-nan", b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e400", b"1e308", b"1e-400"),
    *(b"0", b"-0", b"-1", b"-0.5", b"1.5", b"9" * 19, b"9" * 25, b"9" * 400, b"9" * 5000, b"0." + b"9" * 5000),
    *(b"2147483648", b"4294967296", b"9223372036854775807", b"9223372036854775808", b"18446744073709551615"),
    *(b"18446744073709551616", b"-9223372036854775809", b"0x10", b"1_0", "٣".encode(), b"1,5", b"", b"00012"),
)
VALUES = (
    *(b"null", b"true", b'"x"', b'""', b"[]", b"{}", b"[[]]", b'{"a": 1}', b"[1, 2]", b"NaN", b"1e999", b"-1"),
    *(b"[" * 3000, b'{"a":' * 3000, b"[" * 3000 + b"]" * 3000, b'"' + b"x" * 5000 + b'"', b'"\\ud800"', b'"\x1b[2J"'),
    *(b'"</script><script>alert(1)</script>"', b'"=cmd|1"', b'"\\u0000"'),
)
TIMES = (
    *(b"0000-00-00T00:00:00.000+0000", b"9999-12-31T23:59:59.999+0000", b"2026-13-45T25:61:61.000+0000", b"0", b"-1"),
    *(b"2026/02/30-23:59:60.999999", b"0001-01-01T00:00:00", b"99999999999999999999", b"253402300800000000", b"1"),
    *(b"2026-11-20T22:56:30.049+9900", b"1970-01-01T00:00:00.000-1400"),
)
BYTES = (
    b"\0",
    b"\n",
    b"\r",
    b"\xff\xfe",
    b"\x1b[31m",
    b'"',
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"=",
    b"%s",
    b"\xc2\x85",
)


class Edit(NamedTuple):
    """What is done, where (in 65536ths of what there is to choose from), and two numbers that say with what."""

    kind: str
    place: int
    choice: int
    other: int

    def of(self, text: bytes) -> bytes:
        """The text with this done to it."""
        if self.kind in CHOICES:
            pattern, values = CHOICES[self.kind]
            found = list(pattern.finditer(text))
            if not found:
                return text
            match = found[self.place * len(found) >> 16]
            return text[: match.start()] + values[self.choice % len(values)] + text[match.end() :]
        if self.kind == "all":  # every number of one name
            keys = sorted(set(KEY.findall(text)))
            if not keys:
                return text
            name = keys[self.place * len(keys) >> 16]
            value = (*NUMBERS, *VALUES[:12])[self.choice % (len(NUMBERS) + 12)]
            return re.sub(rb'("%b"\s*:\s*)(?:-?[\d.]+|"[^"\n]*")' % re.escape(name), lambda said: said[1] + value, text)
        lines = text.splitlines(keepends=True)
        if self.kind == "splice":
            begin, end = sorted((self.place * len(text) >> 16, self.other * len(text) >> 16))
            piece = text[begin : min(end, begin + 3000)]
            at = self.choice * len(text) >> 16
            return text[:at] + piece + text[at:]
        if self.kind == "cut":
            begin = self.place * len(text) >> 16
            return text[:begin] + text[begin + 1 + self.other % 2000 :]
        if not lines:
            return text
        one, two = self.place * len(lines) >> 16, self.other * len(lines) >> 16
        if self.kind == "repeat":
            lines.insert(two, lines[one])
        elif self.kind == "swap":
            lines[one], lines[two] = lines[two], lines[one]
        elif self.kind == "join":
            lines[one] = lines[one].rstrip(b"\r\n")[: 1 + self.choice % 500]
        return b"".join(lines)


CHOICES: dict[str, tuple[re.Pattern[bytes], tuple[bytes, ...]]] = {
    "number": (NUMBER, NUMBERS),
    "value": (VALUE, VALUES),
    "key": (KEY, (b'"":', b'"event":', b'"job":', b'"' + b"k" * 300 + b'":', b'"a\\u0000":', b'"time_micros":', b"x:")),
    "time": (TIME, TIMES),
    "byte": (re.compile(rb"[\s\S]"), BYTES),
    "word": (WORD, (b"", b"default", b"Sum", b"Int", b"L0", b"[", b"x" * 500, b"\x1b]0;x\x07", b"None", b"__class__")),
}
KINDS = (*CHOICES, "all", "splice", "cut", "repeat", "swap", "join")
place = st.integers(0, 65535)
edits = st.lists(st.builds(Edit, st.sampled_from(KINDS), place, place, place), min_size=1, max_size=4)


def damaged(text: bytes, some: list[Edit]) -> bytes:
    """The text with all of the edits done, one after the other."""
    for one in some:
        text = one.of(text)
    return text
