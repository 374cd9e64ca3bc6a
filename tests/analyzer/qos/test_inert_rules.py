"""Q01, Q10, Q11, Q18, Q23: settings without effect, in a configuration store or ceph.conf beside the real OSD."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.findings import Finding, Severity
from lsmlens.analyzer.qos.inert_rules import (
    ConcurrencyIgnored,
    CostsWithoutEffect,
    LeftoverShares,
    SleepsWithoutEffect,
    WpqOnPurpose,
)
from lsmlens.analyzer.qos.rules import ClusterRule, OsdRule
from lsmlens.analyzer.qos.view import QosView

Build = Callable[..., QosView]
Found = Callable[[OsdRule | ClusterRule, QosView], list[Finding]]
Lacking = Callable[[OsdRule | ClusterRule, QosView], list[str]]


def store(**options: str) -> dict[str, object]:
    return {
        "config_dump.json": [
            {"section": "osd", "name": name, "value": value, "mask": ""} for name, value in options.items()
        ]
    }


def test_q01_wpq_where_mclock_is_the_default(build: Build, found: Found) -> None:
    files = store(osd_op_queue="wpq", osd_mclock_profile="high_recovery_ops")
    (finding,) = found(WpqOnPurpose(), build({"osd_op_queue": "wpq"}, files=files))
    assert (finding.severity, finding.value) == (Severity.INFO, "wpq on Ceph 18")
    assert "osd_mclock_profile" in finding.meaning
    assert "configuration store (osd)" in finding.evidence[0].text


def test_q01_filestore(build: Build, found: Found) -> None:
    (finding,) = found(WpqOnPurpose(), build({"osd_op_queue": "wpq"}, {"osd_objectstore": "filestore"}, "16.2.15"))
    assert finding.value == "FileStore"


def test_q01_nothing_where_wpq_is_the_default(fixtures: Path, view_at: Callable[[Path], QosView], found: Found) -> None:
    assert not found(WpqOnPurpose(), view_at(fixtures / "osd-stock"))
    assert not found(WpqOnPurpose(), view_at(fixtures / "osd-mclock"))


def test_q10_set_but_not_in_force(build: Build, found: Found) -> None:
    (finding,) = found(ConcurrencyIgnored(), build(files=store(osd_max_backfills="10")))
    assert finding.value == "osd_max_backfills 10"
    assert "ignored" in finding.meaning
    assert finding.commands == (
        "ceph config set osd osd_mclock_override_recovery_settings true",
        "ceph config set osd osd_max_backfills 10",
    )


def test_q10_one_that_survived_the_start(build: Build, found: Found) -> None:
    view = build({"osd_max_backfills": "10"}, files=store(osd_max_backfills="10"))
    (finding,) = found(ConcurrencyIgnored(), view)
    assert "osd_max_backfills survived the OSD's start" in finding.meaning


def test_q10_one_that_was_taken_back(build: Build, found: Found) -> None:
    line = (
        "2024-01-31T23:58:22.017+0000 osd.0 (osd.0) 7 : cluster [WRN] Change to osd_max_backfills on osd.0 did not take"
        " effect. Enable osd_mclock_override_recovery_settings before setting this option.\n"
    )
    (finding,) = found(ConcurrencyIgnored(), build(files={"ceph.log": line}))
    assert finding.evidence[0].line == 1


@pytest.mark.parametrize(
    ("config", "files"),
    [
        ({"osd_mclock_override_recovery_settings": "true"}, store(osd_max_backfills="10")),
        ({}, store(osd_max_backfills="1")),
        ({"osd_op_queue": "wpq"}, store(osd_max_backfills="10")),
    ],
)
def test_q10_nothing(build: Build, found: Found, config: dict[str, str], files: dict[str, object]) -> None:
    assert not found(ConcurrencyIgnored(), build(config, files=files))


def test_q11(build: Build, found: Found) -> None:
    files = store(osd_recovery_sleep_hdd="0.1", osd_scrub_sleep="0.000000")
    (finding,) = found(SleepsWithoutEffect(), build(files=files))
    assert finding.value == "osd_recovery_sleep_hdd 0.1"


def test_q11_in_ceph_conf(build: Build, found: Found) -> None:
    conf = "[osd]\nosd recovery sleep = 0.5\n"
    (finding,) = found(SleepsWithoutEffect(), build({"osd_recovery_sleep": "0.5"}, files={"ceph.conf": conf}))
    assert finding.evidence[0].text == "osd_recovery_sleep 0.5 (ceph.conf)"


def test_q11_nothing_set_and_nothing_to_look_in(build: Build, found: Found, lacking: Lacking) -> None:
    view = build()
    assert not found(SleepsWithoutEffect(), view)
    assert lacking(SleepsWithoutEffect(), view)


def test_q11_nothing_on_the_real_osd(
    fixtures: Path, view_at: Callable[[Path], QosView], found: Found, lacking: Lacking
) -> None:
    view = view_at(fixtures / "osd-mclock")
    assert not found(SleepsWithoutEffect(), view)
    assert not lacking(SleepsWithoutEffect(), view)


RECOVERY_LIMIT = "osd_mclock_scheduler_background_recovery_lim"


@pytest.mark.parametrize(("shown", "severity"), [("0.000000", Severity.INFO), ("0.7", Severity.WARNING)])
def test_q18(build: Build, found: Found, shown: str, severity: Severity) -> None:
    view = build({RECOVERY_LIMIT: shown}, files=store(**{RECOVERY_LIMIT: "0.7"}))
    (finding,) = found(LeftoverShares(), view)
    assert finding.severity is severity


def test_q18_nothing_for_a_custom_profile(build: Build, found: Found) -> None:
    files = store(**{RECOVERY_LIMIT: "0.7"})
    assert not found(LeftoverShares(), build({"osd_mclock_profile": "custom"}, files=files))


@pytest.mark.parametrize(
    ("config", "release", "is_found"),
    [
        ({"osd_recovery_cost": "1048576"}, "18.2.7", True),
        ({}, "18.2.7", False),
        ({"osd_recovery_cost": "1048576"}, "17.2.5", False),
    ],
)
def test_q23(build: Build, found: Found, config: dict[str, str], release: str, is_found: bool) -> None:
    assert bool(found(CostsWithoutEffect(), build(config, release=release))) is is_found
