"""Damage stays where it is: one line is damaged, and what all other lines say comes out as it was.

A line may be any: of an event, of the text around it, of options. What the damaged line itself tells of, its job and
the table it names, may be lost or changed; no other job's figures are.
"""

import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.measures.amplification import added

from tests.fuzz.damage import Edit, damaged, edits
from tests.fuzz.readings import content

JOB = re.compile(rb'\[JOB (\d+)\]|"job": (\d+)')
FIGURES = (
    *("session", "job", "kind", "output_level", "input_files", "output_files", "input_bytes", "output_bytes"),
    *("table_bytes", "input_records", "output_records", "micros", "memtables"),
)
LOGS = ("osd-noisy/ceph-osd.0.log.gz", "osd-reef/ceph-osd.0.log.gz")

in_one_line = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), print_blob=False
)


@cache
def lines_of(name: str) -> tuple[bytes, ...]:
    """A stretch in which flushes and compactions of several families finish."""
    lines = content(name).splitlines(keepends=True)
    starts = [place for place, line in enumerate(lines) if b"flush_started" in line]
    begin = starts[len(starts) // 2]
    return tuple(lines[begin : begin + 250])


def read(text: bytes) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "ceph-osd.0.log").write_bytes(text)
        (one,) = analyze([folder]).runs
        return one


@cache
def sound(name: str) -> Any:
    return read(b"".join(lines_of(name)))


def jobs_but(one: Any, touched: set[int]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """The figures of all jobs but some, and their families, by job and kind."""
    rows = one.run.jobs.select(*FIGURES, "column_family").iter_rows()
    return {(*row[1:4], row[-1]): row for row in rows if row[1] not in touched}


@pytest.mark.parametrize("name", LOGS)
@in_one_line
@given(place=st.integers(0, 65535), some=edits)
def test_a_damaged_line_changes_no_other_job(name: str, place: int, some: list[Edit]) -> None:
    lines = list(lines_of(name))
    number = place * len(lines) >> 16
    line = damaged(lines[number].rstrip(b"\n"), some).replace(b"\n", b" ")[:9000] + b"\n"
    touched = {
        int(one or two) for text in (lines[number], line) for one, two in JOB.findall(text) if len(one or two) < 19
    }
    lines[number] = line
    found, whole = read(b"".join(lines)), sound(name)
    assert jobs_but(found, touched) == jobs_but(whole, touched)
    # Totals are sums of what is listed.
    assert found.total == added(found.families)
    assert found.sums["compactions"] == found.run.jobs.filter(kind="compaction").height
    assert found.sums["flush_bytes"] == (found.run.jobs.filter(kind="flush")["output_bytes"].sum() or 0)
