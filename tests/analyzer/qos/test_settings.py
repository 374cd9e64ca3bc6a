"""Where a setting counts from: config show with config diff, the configuration store, ceph.conf, the release."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.qos.settings import default_of, release_of
from lsmlens.analyzer.qos.view import QosView

Build = Callable[..., QosView]
HDD = "osd_mclock_max_capacity_iops_hdd"


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("18.2.7", (18, 2, 7)),
        ("ceph version 16.2.15 (618f440892089921c3e944a991122ddc44e60516) pacific (stable)", (16, 2, 15)),
        ("19.3.0-1688-g3fcc89c", (19, 3, 0)),
        ("17.2", (17, 2, 0)),
        ("", None),
        (None, None),
    ],
)
def test_releases(text: str | None, release: tuple[int, int, int] | None) -> None:
    assert release_of(text) == release


@pytest.mark.parametrize(
    ("name", "release", "value"),
    [
        ("osd_op_queue", (16, 2, 15), "wpq"),
        ("osd_op_queue", (17, 2, 0), "mclock_scheduler"),
        ("osd_mclock_profile", (17, 2, 6), "high_client_ops"),
        ("osd_mclock_profile", (17, 2, 7), "balanced"),
        ("osd_op_num_shards_hdd", (18, 2, 4), "5"),
        ("osd_op_num_shards_hdd", (18, 2, 5), "1"),
        ("osd_op_num_shards_hdd", (19, 2, 0), "5"),
        ("osd_op_num_shards_hdd", (19, 2, 1), "1"),
        ("osd_mclock_cost_per_io_usec_hdd", (16, 2, 15), "25000.000000"),
        ("osd_mclock_cost_per_io_usec_hdd", (18, 2, 7), None),
        ("osd_mclock_max_sequential_bandwidth_hdd", (17, 2, 6), None),
        ("no_such_option", (18, 2, 7), None),
        ("osd_op_queue", None, None),
    ],
)
def test_defaults_of_point_releases(name: str, release: tuple[int, int, int] | None, value: str | None) -> None:
    assert default_of(name, release) == value


def test_origins_by_config_diff(fixtures: Path, build: Build) -> None:
    diff = json.loads((fixtures / "osd-mclock" / "config_diff.json").read_text())
    diff["diff"][HDD] = {"default": 315.0, "mon": "420", "final": "420"}
    settings = build({HDD: "420"}, files={"config_diff.json": diff}).osds[0].settings
    capacity, sleep, queue = settings[HDD], settings["osd_delete_sleep_hdd"], settings["osd_op_queue"]
    assert capacity is not None
    assert (capacity.origin, capacity.real, capacity.is_default) == ("configuration store", 420.0, False)
    assert sleep is not None
    assert sleep.origin.startswith("set by the OSD itself")
    assert queue is not None
    assert (queue.origin, queue.is_default) == ("default", True)


STORE = [
    {"section": "global", "name": "osd_max_backfills", "value": "2", "mask": ""},
    {"section": "osd", "name": "osd_max_backfills", "value": "3", "mask": "class:hdd"},
    {"section": "osd", "name": "osd_max_backfills", "value": "9", "mask": "class:ssd"},
    {"section": "osd", "name": "osd_max_backfills", "value": "8", "mask": "host:elsewhere"},
    {"section": "osd.7", "name": "osd_max_backfills", "value": "7", "mask": ""},
    {"section": "osd", "name": "osd_op_queue", "value": "wpq", "mask": ""},
]


def test_the_narrowest_section_counts(build: Build) -> None:
    view = build({"osd_max_backfills": "3"}, files={"config_dump.json": STORE})
    setting = view.osds[0].settings["osd_max_backfills"]
    assert setting is not None
    assert setting.origin == "configuration store (osd/class:hdd)"
    stored = view.osds[0].settings.stored("osd_max_backfills")
    assert stored is not None
    assert stored.value == "3"


def test_without_config_show(tmp_path: Path, view_at: Callable[[Path], QosView]) -> None:
    (tmp_path / "config_dump.json").write_text(json.dumps([{**STORE[4], "section": "osd.0"}]))
    (tmp_path / "osd_metadata.json").write_text(json.dumps({"id": 0, "osd_data": "/x", "ceph_version": "18.2.7"}))
    (tmp_path / "ceph.conf").write_text("[osd]\nosd max backfills = 4\nosd recovery max active = 5\n")
    settings = view_at(tmp_path).osds[0].settings
    found = {name: settings[name] for name in ("osd_max_backfills", "osd_recovery_max_active", "osd_op_queue")}
    said = {name: (one.value, one.origin) for name, one in found.items() if one is not None}
    assert said == {
        "osd_max_backfills": ("7", "configuration store (osd.0)"),
        "osd_recovery_max_active": ("5", "ceph.conf"),
        "osd_op_queue": ("mclock_scheduler", "default of the release"),
    }
