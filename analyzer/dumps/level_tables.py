"""The table `** Compaction Stats [family] **`: a row for each level, and one for each priority of threads.

Columns came and went (no CompMergeCPU before 6.0, no Rblob and Wblob before 6.19, WPreComp since 10.4) and
`Size` is a bare number of MB in one version and `62.43 MB` in the next: they are found by the header's names.
Source: db/internal_stats.cc of RocksDB v4.13 to v11.8.1.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from lsmlens.analyzer.dumps.printed_numbers import parse_bytes, parse_count, parse_gb, parse_real

# Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) …
# Level    Files   Size(MB) Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) …
# Priority    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) …
_HEADER = re.compile(r"\s{0,9}(Level|Priority)\s+Files\s")
#   L0      4/1   720.53 KB   1.0      0.0     0.0      0.0       0.0      0.0       0.0   1.0      0.0      1.9 …
#  Sum      6/0     115.39   0.0      0.4     0.2      0.2       0.5      0.3       0.0   2.6      1.7      2.2 …
_ROW = re.compile(r"\s{0,9}(L\d{1,4}|Sum|Int|Low|High|Bottom|User)\b", re.ASCII)
_FILES = re.compile(r"(\d{1,18})/(\d{1,18})", re.ASCII)


class LevelRow(NamedTuple):
    """One row as printed: GB are 2^30 bytes and MB 2^20, to one decimal; None for a column that is not there.

    `name` is L0, L1 …, Sum, Int (since the dump before), or the priority. `read_gb` is all that was read, `rn_gb`
    from the row's level, `rnp1_gb` from the level written to; `w_new_gb` is `write_gb` minus `rnp1_gb`, and may be
    negative. The row of level 0 holds the flushes. `w_amp`: bytes written by bytes that came from above; in Sum and
    Int by bytes flushed and ingested, so without the WAL. The MB per second are of compaction time, not of uptime.
    `key_in` and `key_drop` are in thousands or millions above 9999.
    """

    name: str
    files: int | None = None
    files_being_compacted: int | None = None
    size_bytes: int | None = None
    score: float | None = None
    read_gb: float | None = None
    rn_gb: float | None = None
    rnp1_gb: float | None = None
    write_gb: float | None = None
    w_pre_comp_gb: float | None = None
    w_new_gb: float | None = None
    moved_gb: float | None = None
    w_amp: float | None = None
    read_mb_per_second: float | None = None
    write_mb_per_second: float | None = None
    comp_seconds: float | None = None
    comp_merge_cpu_seconds: float | None = None
    comp_count: int | None = None
    avg_seconds: float | None = None
    key_in: int | None = None
    key_drop: int | None = None
    rblob_gb: float | None = None
    wblob_gb: float | None = None

    @property
    def level(self) -> int | None:
        """The level's number; None for Sum, Int and priorities."""
        return int(self.name[1:]) if self.name[:1] == "L" and self.name[1:].isdecimal() else None


_COLUMNS: dict[str, tuple[str, Callable[[str], int | float | None]]] = {
    "Score": ("score", parse_real),
    "Read(GB)": ("read_gb", parse_gb),
    "Rn(GB)": ("rn_gb", parse_gb),
    "Rnp1(GB)": ("rnp1_gb", parse_gb),
    "Write(GB)": ("write_gb", parse_gb),
    "WPreComp(GB)": ("w_pre_comp_gb", parse_gb),
    "Wnew(GB)": ("w_new_gb", parse_gb),
    "Moved(GB)": ("moved_gb", parse_gb),
    "W-Amp": ("w_amp", parse_real),
    "Rd(MB/s)": ("read_mb_per_second", parse_real),
    "Wr(MB/s)": ("write_mb_per_second", parse_real),
    "Comp(sec)": ("comp_seconds", parse_real),
    "CompMergeCPU(sec)": ("comp_merge_cpu_seconds", parse_real),
    "Comp(cnt)": ("comp_count", parse_count),
    "Avg(sec)": ("avg_seconds", parse_real),
    "KeyIn": ("key_in", parse_count),
    "KeyDrop": ("key_drop", parse_count),
    "Rblob(GB)": ("rblob_gb", parse_gb),
    "Wblob(GB)": ("wblob_gb", parse_gb),
}


def names_row(line: str) -> bool:
    """Whether the line begins as a row does, whole or not."""
    return _ROW.match(line) is not None


class LevelColumns(NamedTuple):
    """The columns that a table's header names, in their order."""

    names: tuple[str, ...]

    @property
    def is_by_priority(self) -> bool:
        """Whether its rows are priorities of threads, not levels."""
        return self.names[0] == "Priority"

    @classmethod
    def in_header(cls, line: str) -> "LevelColumns | None":
        """The columns of a header line; None for any other line."""
        return cls(tuple(line.split())) if _HEADER.match(line) else None

    def row(self, line: str) -> LevelRow | None:
        """The row on that line; None unless it has a value for every column."""
        words = line.split()
        if "Size" in self.names:  # its value is two words; `Size(MB)` and, in 5.0 to 5.3, `Size(MB}` are one
            place = self.names.index("Size")
            words[place : place + 2] = [" ".join(words[place : place + 2])]
        if len(words) != len(self.names):
            return None
        values: dict[str, int | float | None] = {}
        for column, word in zip(self.names, words, strict=True):
            if column == "Files":
                files = _FILES.fullmatch(word)
                values["files"] = int(files[1]) if files else None
                values["files_being_compacted"] = int(files[2]) if files else None
            elif column.startswith("Size"):
                number, _, unit = word.partition(" ")
                values["size_bytes"] = parse_bytes(number, unit or "MB")
            elif column in _COLUMNS:
                name, parse = _COLUMNS[column]
                values[name] = parse(word)
        return LevelRow(words[0], **values)  # type: ignore[arg-type]
