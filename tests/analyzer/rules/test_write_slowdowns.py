"""R02 on logs of real databases."""

import gzip
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding, NotAssessed, OptionChange, Severity
from lsmlens.analyzer.rules.write_slowdowns import WriteSlowdowns

RULE = WriteSlowdowns()


def test_stalls_of_most_of_the_time(fixtures: Path) -> None:
    (run,) = analyze([str(fixtures / "rocksdb-7.8")]).runs
    found = [one for one in RULE.check(run, ()) if isinstance(one, Finding)]
    assert len(found) == 6
    first = found[0]
    assert (first.column_family, first.severity) == ("column_family_name_000001", Severity.CRITICAL)
    assert first.value == "2 lines and entered 2 times, stalled up to 93.8 % of the time"
    assert first.evidence[0].line is not None
    assert "Stalling writes because we have 6 level-0 files" in first.evidence[0].text
    assert first.changes == (OptionChange("max_background_jobs", "4"), OptionChange("max_subcompactions", "4"))


def test_lines_without_dumps(fixtures: Path, tmp_path: Path) -> None:
    """The slowdown lines and the events of a log, without its options and dumps."""
    text = gzip.decompress((fixtures / "rocksdb-backlog" / "LOG.gz").read_bytes()).decode()
    lines = [line for line in text.splitlines() if "Stalling writes because" in line or "EVENT_LOG_v1" in line]
    (tmp_path / "LOG").write_text("\n".join(lines) + "\n")
    (run,) = analyze([str(tmp_path)]).runs
    found = [one for one in RULE.check(run, ()) if isinstance(one, Finding)]
    assert {one.severity for one in found} == {Severity.WARNING}
    assert all("not known" in one.value for one in found)
    assert {one.changes for one in found} == {()}


DUMP = """\
------- DUMPING STATS -------
2019/01/25-11:15:03.304839 7fff7f64d700 [WARN] [db/db_impl.cc:626]
** DB Stats **
Uptime(secs): 2088.1 total, 782.0 interval
Cumulative writes: 24K writes, 704M keys, 24K commit groups, 1.0 writes per commit group, ingest: 16.19 GB, 7.94 MB/s
Cumulative WAL: 24K writes, 0 syncs, 24071.00 writes per sync, written: 16.19 GB, 7.94 MB/s
Cumulative stall: 00:14:13.151 H:M:S, 40.9 percent
Interval writes: 5886 writes, 156M keys, 5886 commit groups, 1.0 writes per commit group, ingest: 3686.18 MB, 4.71 MB/s
Interval WAL: 5886 writes, 0 syncs, 5886.00 writes per sync, written: 3.60 MB, 4.71 MB/s
Interval stall: 00:08:28.124 H:M:S, 65.0 percent

** Compaction Stats [default] **
Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) \
Comp(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop
----------------------------------------------------------------------------------------------------------------
  L0     24/4   174.83 MB   1.2      0.0     0.0      0.0       6.2      6.2       0.0   1.0      0.0     29.6 \
       78        65    1.200       0      0
 Sum     24/4   823.03 MB   0.0     34.9     2.1      3.4      39.4      2.9       0.0   2.8     12.4     14.3 \
      449        75    5.983   1081M  8794K
 Int      0/0    0.00 KB   0.0      2.3     0.5      1.7       2.3      0.6       0.0   4.5     11.9     12.3 \
      194        18   10.765    541M  2525K
Uptime(secs): 2088.1 total, 782.0 interval
Flush(GB): cumulative 6.228, interval 1.370
AddFile(GB): cumulative 0.000, interval 0.000
Cumulative compaction: 39.41 GB write, 19.33 MB/s write, 34.86 GB read, 17.09 MB/s read, 1890.4 seconds
Interval compaction: 2.32 GB write, 3.04 MB/s write, 2.25 GB read, 2.95 MB/s read, 193.8 seconds
Stalls(count): 61 level0_slowdown, 60 level0_slowdown_with_compaction, 0 level0_numfiles, \
0 level0_numfiles_with_compaction, 2 stop for pending_compaction_bytes, 0 slowdown for pending_compaction_bytes, \
0 memtable_compaction, 0 memtable_slowdown, interval 13 total count

"""


@pytest.mark.parametrize("stamped", [True, False])
def test_a_dump_without_stall_lines(stamped: bool, tmp_path: Path) -> None:
    """Logged without warnings: dumps alone tell of stalls, and of the bytes of tables."""
    text = DUMP if stamped else DUMP.replace("2019/01/25-11:15:03.304839 7fff7f64d700 [WARN] [db/db_impl.cc:626]", "")
    (tmp_path / "LOG").write_text(text)
    (run,) = analyze([str(tmp_path)]).runs
    (slow,) = [one for one in run.findings if one.code == "R02"]
    assert (slow.severity, slow.column_family) == (Severity.CRITICAL, "default")
    assert slow.value == "entered 61 times, stalled up to 65.0 % of the time"
    assert "level 0 held as many files" in slow.meaning
    (stop,) = [one for one in run.findings if one.code == "R01"]
    assert stop.value == "entered 2 times"
    assert "hard_pending_compaction_bytes_limit" in stop.meaning
    total = run.total_amplification
    assert total is not None
    assert total.table_bytes == round(39.41 * (1 << 30))
    assert total.ratio == pytest.approx((16.19 + 39.41) / 16.19)


def test_stalled_time_without_a_cause(tmp_path: Path) -> None:
    """The dump is cut before the counts."""
    (tmp_path / "LOG").write_text(DUMP[: DUMP.index("Stalls(count)")])
    (run,) = analyze([str(tmp_path)]).runs
    (slow,) = [one for one in run.findings if one.code == "R02"]
    assert slow.column_family is None
    assert slow.value == "stalled up to 65.0 % of the time"
    assert run.total_amplification is None  # what its tables took is not known


def test_the_line_of_speedb(tmp_path: Path) -> None:
    line = (
        "2022/04/17-14:14:32.645120 7590 [WARN] [/column_family.cc:932] [cf] Stalling writes, L0 files 21, memtables 2"
    )
    (tmp_path / "LOG").write_text(f"2022/04/17-14:13:10.779 7590 Speedb version: 2.1.1\n{line}, increment 8.000000\n")
    (run,) = analyze([str(tmp_path)]).runs
    (slow,) = [one for one in run.findings if one.code == "R02"]
    assert (slow.column_family, slow.evidence[0].line) == ("cf", 2)


def test_no_slowdown(fixtures: Path) -> None:
    assert list(RULE.check(_osd(fixtures / "osd-stock"), ())) == []


def test_stops_are_another_rules(fixtures: Path) -> None:
    assert list(RULE.check(_osd(fixtures / "rocksdb-current"), ())) == []


def test_no_dumps(fixtures: Path) -> None:
    (lacking,) = RULE.check(_osd(fixtures / "osd-noisy"), ())
    assert isinstance(lacking, NotAssessed)
    assert lacking.needs == "statistics dumps"


def _osd(bundle: Path) -> RunAnalysis:
    return next(run for run in analyze([str(bundle)]).runs if not run.run.is_monitor)
