"""What the campaign found, each as the smallest input that did it; what was wrong stands beside it."""

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from lsmlens.analyzer.bundles.cluster_status import sizes_in
from lsmlens.analyzer.clients.fio_logs import read_fio_log
from lsmlens.analyzer.comparison.arms import parse_arm, read_arms
from lsmlens.analyzer.comparison.comparison import compare
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.errors import InputError, LsmlensError
from lsmlens.analyzer.numbers import setting
from lsmlens.reports.comparison import ComparisonReport
from lsmlens.reports.outputs import COMPARISON
from lsmlens.tuners.options.presets import preset
from lsmlens.tuners.options.reading import read_options
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


@pytest.mark.parametrize("value", ["1e308", "-1e308", "1e400", "nan"])
def test_a_figure_of_a_published_table_that_only_just_is_a_number(value: str, tmp_path: Path) -> None:
    """MiB were made bytes of it, and these were infinite."""
    table = content("published/pr51821-rate-limited.csv").decode()
    label = next(line for line in table.splitlines() if line.startswith("Total Output Size"))
    file = tmp_path / "a.csv"
    file.write_text(table.replace(label, re.sub(r",[^,]+$", f",{value}", label)))
    COMPARISON.screen(ComparisonReport(compare(read_arms([parse_arm(str(file))]))), True, 100)


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


@pytest.mark.parametrize("number", ["9" * 400, "1.2.3", "9" * 25, "..", "\N{ARABIC-INDIC DIGIT THREE}"])
def test_a_size_that_is_no_number(number: str) -> None:
    """It was made one, and rounded."""
    assert sizes_in(f"TOTAL 1 MiB {number} GiB 2.5 KiB") == [1 << 20, 2560]


@pytest.mark.parametrize("rating", [b"1e400", b"-1", b"NaN", b"null"])
def test_a_fragmentation_that_is_no_share_of_one(rating: bytes, tmp_path: Path) -> None:
    """It was rounded without asking whether it can be."""
    (tmp_path / "score.json").write_bytes(b'{"fragmentation_rating": ' + rating + b"}")
    (tmp_path / "mempools.json").write_bytes(b'{"mempool": {"by_pool": {"bluestore_cache_onode": {"bytes": 1}}}}')
    (one,) = analyze([str(tmp_path)]).runs
    assert one.counters is not None
    assert one.counters.fragmentation_share is None


@pytest.mark.parametrize("row", [b"1, %b, 0, 0, 0\n", b"1, 5, 0, %b, 0\n"])
def test_a_latency_above_64_bits(row: bytes) -> None:
    """It was added up as a float, which holds none so large."""
    good = b"1, 5, 0, 0, 0\n"
    log = read_fio_log([good, row % (b"9" * 400)], "x_lat.1.log")
    assert (log.left_out, sum(log.directions[0].weights)) == (1, 1)


@pytest.mark.parametrize("version", [b"0.2.1", b"9" * 5000, b"1.", b"\xb2"])
def test_a_trace_whose_version_is_no_number(version: bytes, tmp_path: Path) -> None:
    """Digits and points were taken for two numbers."""
    trace = content("query-traces/fillrandom.trace")
    file = tmp_path / "a.trace"
    file.write_bytes(trace.replace(b"Trace Version: 0.2", b"Trace Version: " + version, 1))
    assert file.read_bytes() != trace
    with pytest.raises(InputError) as raised:
        open_workload(str(file))
    assert raised.value.hint


@pytest.mark.parametrize(
    "text",
    [
        *("+write_buffer_size=NaN", "+nonsense_of_mine=1", "+table_factory=PlainTable", "+plain_table_factory={}"),
        *("ceph:reef+compaction_readahead_size=99999999999999999999999", "no/such/file", "+write_buffer_size="),
    ],
)
def test_wrong_options_have_a_way_out(text: str) -> None:
    """All of these ended with a hint at the help of the program."""
    with pytest.raises(InputError) as raised:
        read_options(text, preset("ceph:reef"))
    assert raised.value.hint


def test_an_error_quotes_no_more_than_a_line() -> None:
    """All 5,000 characters of a value stood in it."""
    document = readings()["the workload fillrandom.yaml"].files["a.yaml"].decode()
    with pytest.raises(InputError) as raised:
        parse_workload(document.replace("seconds:", f"seconds: {'x' * 5000} #"), "a.yaml")
    assert len(str(raised.value)) < 700
    assert "\n" not in str(LsmlensError("one\ntwo\x1b[2J", "three\nfour"))
    assert str(LsmlensError("one\ntwo\x1b[2J")) == "one two\N{REPLACEMENT CHARACTER}[2J"
