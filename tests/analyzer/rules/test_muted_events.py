"""R19: real OSD logs without the lines that a lower debug_rocksdb keeps out."""

import gzip
import re
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Confidence, Finding, NotAssessed
from lsmlens.analyzer.rules.muted_events import MutedEvents

RULE = MutedEvents()
STAMPED = re.compile(rb"\d{4}-\d\d-\d\dT")
MUTED = re.compile(rb"\S+ \S+ +[4-9] rocksdb: ")


@pytest.fixture
def muted(fixtures: Path, tmp_path: Path) -> Path:
    """The log of an OSD as debug_rocksdb 3 leaves it."""
    lines = gzip.decompress((fixtures / "osd-crash" / "ceph-osd.0.log.gz").read_bytes()).splitlines(keepends=True)
    kept = [line for line in lines if STAMPED.match(line) and not MUTED.match(line) and b"EVENT_LOG_v1" not in line]
    (tmp_path / "ceph-osd.0.log").write_bytes(b"".join(kept))
    return tmp_path


def test_a_log_from_the_start_on(muted: Path) -> None:
    (finding,) = RULE.check(_only(muted), ())
    assert isinstance(finding, Finding)
    assert finding.confidence is Confidence.MEDIUM
    assert finding.commands == ("ceph config set osd debug_rocksdb 4/5",)


@pytest.mark.parametrize("level", ["3/5", "0"])
def test_config_show_says_so(level: str, muted: Path, fixtures: Path) -> None:
    _show(muted, fixtures, level)
    (finding,) = RULE.check(_only(muted), ())
    assert isinstance(finding, Finding)
    assert (finding.confidence, finding.value) == (Confidence.HIGH, f"debug_rocksdb is {level}")


def test_a_quiet_daemon(muted: Path, fixtures: Path) -> None:
    _show(muted, fixtures, "4/5")
    assert list(RULE.check(_only(muted), ())) == []


def test_a_log_without_the_start(muted: Path) -> None:
    log = muted / "ceph-osd.0.log"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(line for line in lines if b"ceph version" not in line))
    (lacking,) = RULE.check(_only(muted), ())
    assert isinstance(lacking, NotAssessed)


@pytest.mark.parametrize("bundle", ["osd-crash", "osd-noisy", "rocksdb-7.8"])
def test_events_are_there(bundle: str, fixtures: Path) -> None:
    assert list(RULE.check(_only(fixtures / bundle), ())) == []


def _only(bundle: Path) -> RunAnalysis:
    (run,) = analyze([str(bundle)]).runs
    return run


def _show(bundle: Path, fixtures: Path, level: str) -> None:
    shown = (fixtures / "osd-stock" / "config_show.json").read_text()
    assert '"debug_rocksdb": "4/5"' in shown
    (bundle / "config_show.json").write_text(shown.replace('"debug_rocksdb": "4/5"', f'"debug_rocksdb": "{level}"'))
