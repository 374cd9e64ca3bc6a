"""Pages and pictures of logs with absurd values, times and names: drawn, valid, and of bounded size."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.reports.analysis import charts_called, compose
from lsmlens.reports.html.page import render
from lsmlens.reports.html.pictures import to_svg
from lsmlens.reports.redaction import redacted

FINISHED = re.compile(rb'EVENT_LOG_v1 (\{[^\n]*"event": "(?:compaction|flush)_finished"[^\n]*)\n')
INT64_MAX = (1 << 63) - 1

LogText = Callable[[str], bytes]


@pytest.fixture(scope="module")
def log(log_text: LogText) -> bytes:
    return log_text("osd-spillover/ceph-osd.0.log.gz")


def changed(log: bytes, **values: Any) -> bytes:
    """The log with fields of all its finished jobs set to a value."""
    return FINISHED.sub(
        lambda match: b"EVENT_LOG_v1 %b\n" % json.dumps({**json.loads(match[1]), **values}).encode(), log
    )


def assert_it_can_be_drawn(analysis: Analysis) -> None:
    html = render(compose(analysis))
    assert len(html.encode()) < 2_000_000
    data = re.search(r'id="lsmlens-data">(.*?)</script>', html, re.DOTALL)
    assert data is not None
    assert json.loads(data[1])["charts"]
    assert to_svg(charts_called(analysis, "timeline")).startswith("<svg")


@pytest.mark.slow
@pytest.mark.parametrize(
    "values",
    [
        {"total_output_size": INT64_MAX},
        {"compaction_time_micros": INT64_MAX},
        {"compaction_time_micros": 0, "num_input_records": 0, "num_output_records": 0, "total_output_size": 0},
        {"output_level": INT64_MAX},
        {"output_level": -1},
        {"lsm_state": [10**30, -1]},
        {"lsm_state": [-5]},
        {"immutable_memtables": INT64_MAX},
        {"time_micros": 1},
    ],
    ids=str,
)
def test_absurd_values(values: dict[str, Any], log: bytes, tmp_path: Path) -> None:
    (tmp_path / "ceph-osd.0.log").write_bytes(changed(log, **values))
    assert_it_can_be_drawn(analyze([str(tmp_path / "ceph-osd.0.log")]))


@pytest.mark.slow
@pytest.mark.parametrize("micros", [1, 4_000_000_000_000_000])
def test_absurd_times(micros: int, log: bytes, tmp_path: Path) -> None:
    (tmp_path / "ceph-osd.0.log").write_bytes(re.sub(rb'"time_micros": \d+', b'"time_micros": %d' % micros, log))
    assert_it_can_be_drawn(analyze([str(tmp_path / "ceph-osd.0.log")]))


@pytest.mark.slow
def test_times_that_no_calendar_has(log: bytes, tmp_path: Path) -> None:
    (tmp_path / "ceph-osd.0.log").write_bytes(changed(log, time_micros=INT64_MAX))
    analysis = analyze([str(tmp_path / "ceph-osd.0.log")])
    quality = analysis.runs[0].run.quality
    assert quality.events_rejected == len(FINISHED.findall(log))
    assert "damaged beyond use" in render(compose(analysis))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [b"\x1b[2J", b"a\xff\xfeb", b"\\ud800", b"", b"</script>", b"var(--ink)", b"x" * 400, b'a\\\\\\"b']
)
def test_any_name_of_a_column_family(name: bytes, log: bytes, tmp_path: Path) -> None:
    text = log.replace(b'"cf_name": "p-0"', b'"cf_name": "%b"' % name).replace(b"[p-0]", b"[%b]" % name)
    (tmp_path / "ceph-osd.0.log").write_bytes(text)
    analysis = analyze([str(tmp_path / "ceph-osd.0.log")])
    assert_it_can_be_drawn(analysis)
    assert_it_can_be_drawn(redacted(analysis))


def test_a_log_without_events_has_a_page(tmp_path: Path) -> None:
    (tmp_path / "LOG").write_text("2026/11/21-07:33:02.040964 10094 RocksDB version: 9.8.4\n")
    html = render(compose(analyze([str(tmp_path / "LOG")])))
    assert "no flush or compaction finished" in html
    assert "vegaEmbed=" not in html
