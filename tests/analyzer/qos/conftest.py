"""Bundles for tests of scheduling: the documents of a real OSD under mClock (fixtures/osd-mclock), values replaced.

No OSD with several shards, of another release or in recovery was at hand, so each case says what it replaces.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.findings import Finding, NotAssessed
from lsmlens.analyzer.qos.reading import read_material
from lsmlens.analyzer.qos.rules import ClusterRule, OsdRule
from lsmlens.analyzer.qos.view import QosView, view_of

Build = Callable[..., QosView]
CHARGES_BY_UNITS = {
    "osd_mclock_cost_per_io_usec": "0.000000",
    "osd_mclock_cost_per_io_usec_hdd": "25000.000000",
    "osd_mclock_cost_per_io_usec_ssd": "50.000000",
    "osd_mclock_cost_per_byte_usec": "0.000000",
    "osd_mclock_cost_per_byte_usec_hdd": "5.200000",
    "osd_mclock_cost_per_byte_usec_ssd": "0.011000",
}


def read(folder: Path) -> QosView:
    return view_of(read_material([str(folder)]))


@pytest.fixture(scope="session")
def view_at(fixtures: Path) -> Callable[[Path], QosView]:
    """The view of a folder; those of fixtures are read once."""
    known: dict[Path, QosView] = {}

    def at(folder: Path) -> QosView:
        if fixtures not in folder.parents:
            return read(folder)
        if folder not in known:
            known[folder] = read(folder)
        return known[folder]

    return at


@pytest.fixture
def build(fixtures: Path, tmp_path: Path) -> Build:
    """The view of a bundle: config show and metadata of the real OSD with values replaced, and further files."""

    def make(
        config: Mapping[str, str] | None = None,
        metadata: Mapping[str, str] | None = None,
        release: str = "18.2.7",
        files: Mapping[str, object] | None = None,
        perf: Mapping[str, Mapping[str, Any]] | None = None,
        log: bool = False,
    ) -> QosView:
        source, folder = fixtures / "osd-mclock", tmp_path / "bundle"
        folder.mkdir()
        shown = json.loads((source / "config_show.json").read_text())
        if tuple(map(int, release.split("."))) < (17, 2, 7):
            shown |= CHARGES_BY_UNITS
        said = json.loads((source / "osd_metadata.json").read_text())
        said["ceph_version"] = said["ceph_version"].replace("18.2.7", release)
        said["ceph_version_short"] = release
        (folder / "config_show.json").write_text(json.dumps(shown | dict(config or {})))
        (folder / "osd_metadata.json").write_text(json.dumps(said | dict(metadata or {})))
        for name, content in (files or {}).items():
            text = content if isinstance(content, str) else json.dumps(content)
            (folder / name).write_text(text)
        for name, sections in (perf or {}).items():
            dump = json.loads((source / "perf_dump.end.json").read_text())
            for section, counters in sections.items():
                dump[section] = dump.get(section, {}) | counters
            (folder / name).write_text(json.dumps(dump))
        if log:
            (folder / "ceph-osd.0.log.gz").write_bytes((source / "ceph-osd.0.log.gz").read_bytes())
        return read(folder)

    return make


@pytest.fixture(scope="session")
def found() -> Callable[[OsdRule | ClusterRule, QosView], list[Finding]]:
    """What a rule finds in a view's first OSD, or in its cluster."""

    def of(rule: OsdRule | ClusterRule, view: QosView) -> list[Finding]:
        return [one for one in _said(rule, view) if isinstance(one, Finding)]

    return of


@pytest.fixture(scope="session")
def lacking() -> Callable[[OsdRule | ClusterRule, QosView], list[str]]:
    """What a rule lacks."""

    def of(rule: OsdRule | ClusterRule, view: QosView) -> list[str]:
        return [one.needs for one in _said(rule, view) if isinstance(one, NotAssessed)]

    return of


def _said(rule: OsdRule | ClusterRule, view: QosView) -> list[Finding | NotAssessed]:
    if hasattr(rule, "check_cluster"):
        return list(rule.check_cluster(view))
    return list(rule.check(view.osds[0], view))
