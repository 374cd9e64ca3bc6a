"""Statistics dumps and options are kept as texts, whole, wherever blocks and pieces end."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.bundles.companions import read_companions
from lsmlens.analyzer.logs import blocks
from lsmlens.analyzer.measures.life import counters_of, cross_check, last_life, options_of, series_of
from lsmlens.analyzer.runs.reading import read_runs
from lsmlens.analyzer.runs.run import Run


def run_at(path: Path) -> Run:
    return read_runs([str(path)])[1][0]


@pytest.fixture
def spillover(fixtures: Path) -> Run:
    return run_at(fixtures / "osd-spillover")


def test_every_dump_is_kept(spillover: Run) -> None:
    # five markers in the log: one soon after the open, then every 60 s, the first of two opens too short for one
    log = gzip.decompress(Path(spillover.members[0]).read_bytes())
    assert len(spillover.dumps) == log.count(b"------- DUMPING STATS -------")
    series = series_of(spillover)
    assert series is not None
    assert not any(point.is_cut for point in series.points)
    assert [point.uptime_seconds for point in series.last_of_opens] == [series.points[-1].uptime_seconds]


@pytest.mark.parametrize("window", [1 << 16, 3 << 15, 1 << 18])
def test_a_dump_is_kept_whole_over_the_end_of_a_block(
    window: int, spillover: Run, log_text: Callable[[str], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = list(spillover.dumps)
    log = tmp_path / "ceph-osd.0.log"
    log.write_bytes(log_text("osd-spillover/ceph-osd.0.log.gz"))
    monkeypatch.setattr(blocks, "WINDOW_BYTES", window)
    assert list(run_at(log).dumps) == expected
    monkeypatch.setattr(blocks, "BUFFER_BYTES", 2 * window)
    monkeypatch.setattr(blocks, "HISTORY_BYTES", window)
    packed = tmp_path / "x" / "ceph-osd.0.log.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(log.read_bytes()))
    assert list(run_at(packed).dumps) == expected


def test_a_crash_dump_tells_no_dump_again(fixtures: Path) -> None:
    run = run_at(fixtures / "osd-crash")
    moments = [millis for millis, _ in run.dumps]
    assert len(moments) == len(set(moments))


def test_options_are_those_of_the_last_open(spillover: Run) -> None:
    options, ceph = options_of(spillover, read_companions(spillover.companions))
    found = {(option.family, option.name): option.value for option in options}
    assert found[None, "stats_dump_period_sec"] == "60"
    assert found["p-0", "write_buffer_size"] == "268435456"
    assert [option.name for option in options if option.differs] == ["stats_dump_period_sec"]
    assert ceph


def test_the_log_and_the_counter_agree(fixtures: Path) -> None:
    for bundle in ("osd-stock", "osd-spillover"):
        run = run_at(fixtures / bundle)
        check = cross_check(last_life(run), counters_of(run, read_companions(run.companions)))
        assert check is not None
        assert check.difference is not None
        assert abs(check.difference) < 0.02
        assert check.earlier_log_bytes == 0


def test_only_the_last_life_is_checked(fixtures: Path, log_text: Callable[[str], bytes], tmp_path: Path) -> None:
    """The same OSD with a life before that was killed, so that no counters tell of it."""
    (tmp_path / "ceph-osd.0.log.1").write_bytes(log_text("osd-stock/ceph-osd.0.log.gz"))
    (tmp_path / "ceph-osd.0.log").write_bytes(log_text("osd-spillover/ceph-osd.0.log.gz"))
    for dump in (fixtures / "osd-spillover").glob("perf_dump.*"):
        (tmp_path / dump.name).write_bytes(dump.read_bytes())
    run = run_at(tmp_path)
    check = cross_check(last_life(run), counters_of(run, read_companions(run.companions)))
    assert check is not None
    assert check.difference is not None
    assert abs(check.difference) < 0.02
    assert check.earlier_log_bytes > 0
