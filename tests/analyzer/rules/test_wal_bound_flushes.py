"""R06 on flushes of real databases."""

from pathlib import Path

from lsmlens.analyzer.analysis import RunAnalysis, analyze
from lsmlens.analyzer.findings import Finding, NotAssessed, Severity
from lsmlens.analyzer.rules.wal_bound_flushes import WalBoundFlushes

RULE = WalBoundFlushes()


def test_the_wal_of_a_stock_osd(fixtures: Path) -> None:
    (finding,) = RULE.check(_osd(fixtures / "osd-stock"), ())
    assert isinstance(finding, Finding)
    assert finding.severity is Severity.WARNING
    assert finding.meaning.startswith("max_total_wal_size binds for O-0, O-1, O-2, P:")
    assert finding.value.startswith("67% of all flushes")
    assert finding.commands[-1].endswith('bluestore_rocksdb_options_annex "max_total_wal_size=2147483648"')


def test_merging_many_memtables_does_not_help_some_families(fixtures: Path) -> None:
    """P merges up to 32, and its WAL flushes come at some 24."""
    (finding,) = RULE.check(_osd(fixtures / "osd-reef"), ())
    assert isinstance(finding, Finding)
    assert finding.severity is Severity.INFO
    assert finding.value.endswith("up to 95% (P)")


def test_an_annex_that_is_there_is_kept(fixtures: Path, tmp_path: Path) -> None:
    """The annex the OSD of osd-spillover ran with (SOURCE.md), as config show tells it."""
    source = fixtures / "osd-spillover" / "ceph-osd.0.log.gz"
    (tmp_path / source.name).write_bytes(source.read_bytes())
    (without,) = RULE.check(_osd(tmp_path), ())
    assert isinstance(without, Finding)
    assert without.commands[0] == "ceph config get osd bluestore_rocksdb_options_annex"
    none, annex = (f'"bluestore_rocksdb_options_annex": "{value}"' for value in ("", "stats_dump_period_sec=60"))
    shown = (fixtures / "osd-stock" / "config_show.json").read_text()
    assert none in shown
    (tmp_path / "config_show.json").write_text(shown.replace(none, annex))
    (finding,) = RULE.check(_osd(tmp_path), ())
    assert isinstance(finding, Finding)
    assert finding.commands == (
        'ceph config set osd bluestore_rocksdb_options_annex "stats_dump_period_sec=60,max_total_wal_size=2147483648"',
    )


def test_flushes_of_full_write_buffers(fixtures: Path) -> None:
    assert list(RULE.check(_osd(fixtures / "rocksdb-7.8"), ())) == []


def test_no_options(fixtures: Path) -> None:
    (lacking,) = RULE.check(_osd(fixtures / "osd-noisy"), ())
    assert isinstance(lacking, NotAssessed)
    assert lacking.needs.startswith("options")


def test_no_flushes(fixtures: Path) -> None:
    monitor = next(run for run in analyze([str(fixtures / "osd-stock")]).runs if run.run.is_monitor)
    (lacking,) = RULE.check(monitor, ())
    assert isinstance(lacking, NotAssessed)
    assert lacking.needs.startswith("flushes")


def _osd(bundle: Path) -> RunAnalysis:
    return next(run for run in analyze([str(bundle)]).runs if not run.run.is_monitor)
