"""What the campaign found, each as the smallest input that did it; what was wrong stands beside it."""

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from lsmlens.analyzer.comparison.arms import parse_arm, read_arms
from lsmlens.analyzer.comparison.comparison import compare
from lsmlens.analyzer.errors import InputError, LsmlensError
from lsmlens.analyzer.numbers import setting
from lsmlens.reports.comparison import ComparisonReport
from lsmlens.reports.outputs import COMPARISON
from lsmlens.tuners.workloads.sources import open_workload
from lsmlens.tuners.workloads.yaml_form import parse_workload

from tests.fuzz.readings import content, readings


@pytest.mark.parametrize("value", ["9" * 5000, "9" * 21, "\N{ARABIC-INDIC DIGIT THREE}", "-1024", ""])
def test_an_option_value_that_is_no_number_of_64_bits_is_shown_as_it_is(value: str) -> None:
    """It was made a number to show it in MiB, and Python refuses to make one of 5,000 digits."""
    assert setting("write_buffer_size", value) == value


@pytest.mark.parametrize("count", ["9" * 19, "9" * 25, "9" * 39, "-" + "9" * 19])
def test_a_count_above_64_bits_in_a_published_table(count: str, tmp_path: Path) -> None:
    """It was a whole number, which no column of Parquet holds."""
    table = content("published/pr51821-rate-limited.csv").decode().splitlines()
    changed = [
        line if not line.startswith("Total Input Records") else re.sub(r",[^,]+", f",{count}", line) for line in table
    ]
    assert changed != table
    file = tmp_path / "a.csv"
    file.write_text("\n".join(changed))
    report = ComparisonReport(compare(read_arms([parse_arm(str(file))])))
    for output in COMPARISON.outputs([str(tmp_path / "a.parquet")]):
        COMPARISON.write(output, report)
    assert float(count) in pq.read_table(tmp_path / "a.parquet")["value"].to_pylist()


def test_a_key_of_an_odd_number_of_digits(tmp_path: Path) -> None:
    """Hexadecimal digits were taken in pairs without asking whether there were pairs."""
    text = readings()["a log with write batches"].files["ceph-osd.0.log"]
    place = text.index(b"key = 0x") + 8
    file = tmp_path / "ceph-osd.0.log"
    file.write_bytes(text[:place] + text[place + 1 :])
    open_workload(str(file))


@pytest.mark.parametrize("size", [b"9" * 13, b"9" * 20])
def test_a_value_larger_than_memory(size: bytes, tmp_path: Path) -> None:
    """So many bytes were made of a damaged size."""
    text = readings()["a log with write batches"].files["ceph-osd.0.log"]
    file = tmp_path / "ceph-osd.0.log"
    file.write_bytes(re.sub(rb"value size = \d+", b"value size = " + size, text, count=1))
    every, rest = (sum(one.records for one in open_workload(str(path)).batches(1)) for path in (_whole(tmp_path), file))
    assert rest == every - 1


def _whole(folder: Path) -> Path:
    file = folder / "whole.log"
    file.write_bytes(readings()["a log with write batches"].files["ceph-osd.0.log"])
    return file


def test_an_error_quotes_no_more_than_a_line() -> None:
    """All 5,000 characters of a value stood in it."""
    document = readings()["the workload fillrandom.yaml"].files["a.yaml"].decode()
    with pytest.raises(InputError) as raised:
        parse_workload(document.replace("seconds:", f"seconds: {'x' * 5000} #"), "a.yaml")
    assert len(str(raised.value)) < 700
    assert "\n" not in str(LsmlensError("one\ntwo\x1b[2J", "three\nfour"))
    assert str(LsmlensError("one\ntwo\x1b[2J")) == "one two\N{REPLACEMENT CHARACTER}[2J"
