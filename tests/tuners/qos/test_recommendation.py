"""Candidates, the model of a cluster, plays, calibration and the pick, on documents of a real OSD and a dump."""

import json
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from lsmlens.analyzer.qos.observed_recovery import ObservedRecovery
from lsmlens.analyzer.qos.reading import read_material
from lsmlens.analyzer.qos.service_classes import ServiceClass
from lsmlens.analyzer.qos.view import QosView, view_of
from lsmlens.tuners.qos.candidates import Candidates
from lsmlens.tuners.qos.cluster_model import cluster_model
from lsmlens.tuners.qos.recommendation import (
    Play,
    QosCalibration,
    QosObjective,
    QosRecommendation,
    calibrate,
    play,
    queue_seconds,
    recommend,
)
from lsmlens.tuners.qos.scenario import Scenario
from lsmlens.tuners.qos.simulation import ClientFigures

Study = Callable[..., Scenario]


def dump(count: int = 12, objects: int = 40) -> dict[str, Any]:
    """Groups of three OSDs that each get a copy on the fourth."""
    return {
        "pg_stats": [
            {
                "pgid": f"2.{seed:x}",
                "state": "active+undersized+degraded+remapped+backfilling",
                "up": [seed % 3, 3, (seed + 1) % 3],
                "acting": [seed % 3, (seed + 1) % 3],
                "acting_primary": seed % 3,
                "stat_sum": {
                    "num_objects": objects,
                    "num_bytes": objects << 22,
                    "num_objects_degraded": objects,
                },
            }
            for seed in range(count)
        ]
    }


@pytest.fixture
def view(fixtures: Path, tmp_path: Path) -> Callable[..., QosView]:
    """A view of the real OSD's config show, with values replaced, and of other documents."""

    def make(config: dict[str, str] | None = None, **files: object) -> QosView:
        shown = json.loads((fixtures / "osd-mclock" / "config_show.json").read_text())
        shown["osd_mclock_max_capacity_iops_hdd"] = "270"
        metadata = {"id": 0, "osd_data": "/x", "ceph_version": "18.2.7", "rotational": "1"}
        (tmp_path / "config_show.json").write_text(json.dumps(shown | (config or {})))
        (tmp_path / "osd_metadata.json").write_text(json.dumps(metadata))
        for name, content in files.items():
            (tmp_path / f"{name}.json").write_text(json.dumps(content))
        return view_of(read_material([str(tmp_path)]))

    return make


class Here(Executor):
    """Does what it is asked for at once, in this process; what it did before, it knows (a play has its seed)."""

    known: ClassVar[dict[str, Play]] = {}

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        asked = repr((fn.__name__, args, kwargs))
        if asked not in self.known:
            self.known[asked] = fn(*args, **kwargs)
        future: Future[Any] = Future()
        future.set_result(self.known[asked])
        return future


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulations that take a moment."""
    monkeypatch.setattr("lsmlens.tuners.qos.cluster_model.SIMULATED_SECONDS", {"hdd": 5.0, "nvme": 0.2})
    monkeypatch.setattr("lsmlens.tuners.qos.cluster_model.START_SECONDS", {"hdd": 0.3, "nvme": 0.02})


# ---- candidates


def test_profiles_by_backfills(view: Callable[..., QosView]) -> None:
    candidates = Candidates(view().osds[0])
    tried = list(candidates.all())
    assert tried[0] == candidates.current
    assert tried[0].is_current
    assert len(tried) == 9  # three profiles by 1, 2, 3, of which one is in force
    assert len({(one.profile, one.max_backfills) for one in tried}) == 9


def test_an_hdd_with_several_queues_is_tried_with_one(view: Callable[..., QosView]) -> None:
    changed = {"osd_op_num_shards_hdd": "5", "osd_op_num_threads_per_shard_hdd": "1"}
    candidates = Candidates(view(changed).osds[0])
    first, *others = candidates.all()
    assert (first.shards, first.threads) == (5, 1)
    assert {(one.shards, one.threads) for one in others} == {(1, 5)}
    assert candidates.needs_restart(others[0])
    commands = candidates.commands(others[0])
    assert "ceph config set osd osd_op_num_shards_hdd 1" in commands
    assert commands[-1].startswith("systemctl restart")


def test_wpq_is_tried_by_backfills_alone(view: Callable[..., QosView]) -> None:
    tried = list(Candidates(view({"osd_op_queue": "wpq"}).osds[0]).all())
    assert [(one.scheduler, one.profile, one.max_backfills) for one in tried] == [
        ("wpq", "", 1),
        ("wpq", "", 2),
        ("wpq", "", 3),
    ]


def test_commands_and_the_way_back(view: Callable[..., QosView]) -> None:
    stored = [{"section": "osd", "name": "osd_mclock_profile", "value": "balanced", "mask": ""}]
    candidates = Candidates(view(config_dump=stored).osds[0])
    other = replace(candidates.current, profile="high_recovery_ops", max_backfills=3, is_current=False)
    assert candidates.commands(other) == (
        "ceph config set osd osd_mclock_profile high_recovery_ops",
        "ceph config set osd osd_mclock_override_recovery_settings true",
        "ceph config set osd osd_max_backfills 3",
    )
    assert candidates.way_back(other) == (
        "ceph config set osd osd_mclock_profile balanced",
        "ceph config rm osd osd_max_backfills",
        "ceph config rm osd osd_mclock_override_recovery_settings",
    )
    assert candidates.commands(candidates.current) == ()
    assert not candidates.needs_restart(other)


def test_shares_in_each_queue(view: Callable[..., QosView]) -> None:
    candidates = Candidates(view({"osd_op_num_shards_hdd": "5"}).osds[0])
    shares = candidates.scheduler_of(candidates.current, 4 << 20).shares
    assert shares[ServiceClass.CLIENT].reservation == 0.5 * 157_286_400 / 5
    assert shares[ServiceClass.BEST_EFFORT].limit == pytest.approx(0.9 * 157_286_400 / 5)


# ---- the model


def test_the_model_of_a_dump(view: Callable[..., QosView]) -> None:
    seen = view(pg_dump=dump())
    model = cluster_model(seen, seen.osds[0])
    assert (model.osds, len(model.groups), model.objects, model.object_bytes) == (4, 12, 480, 4 << 20)
    assert {group.target for group in model.groups} == {3}
    assert {group.service_class for group in model.groups} == {ServiceClass.RECOVERY}
    assert model.is_placement_known
    assert model.hardware.small_write_seconds == pytest.approx(1 / 270)


def test_misplaced_groups_are_best_effort(view: Callable[..., QosView]) -> None:
    groups = dump()
    for row in groups["pg_stats"]:
        row["state"] = "active+remapped+backfilling"
        row["stat_sum"].pop("num_objects_degraded")
    seen = view(pg_dump=groups)
    model = cluster_model(seen, seen.osds[0])
    assert {group.service_class for group in model.groups} == {ServiceClass.BEST_EFFORT}


def test_without_a_dump_an_osd_is_refilled(view: Callable[..., QosView]) -> None:
    seen = view()
    model = cluster_model(seen, seen.osds[0], depth=16)
    assert (model.osds, model.client.depth, model.is_placement_known) == (4, 16, False)
    assert any("what if an OSD is refilled" in one for one in model.assumptions)


def test_many_osds_are_played_in_part(view: Callable[..., QosView]) -> None:
    groups = dump(60)
    for number, row in enumerate(groups["pg_stats"]):
        primary = number % 20
        row |= {"up": [primary, 30 + number % 3], "acting": [primary, 40], "acting_primary": primary}
    seen = view(pg_dump=groups)
    model = cluster_model(seen, seen.osds[0], osds=60)
    assert model.osds == 8
    assert model.client.depth == 9  # 64 * 8 / 60
    assert len({group.target for group in model.groups}) == 1


# ---- plays


def test_a_recovery_is_played_to_its_end_in_shorter_time(study: Study) -> None:
    whole = replace(study("hdd", "balanced"), seconds=24.0)
    played = play(whole)
    by_charges = queue_seconds(whole)
    assert by_charges == pytest.approx(972, rel=0.01)
    assert played.object_scale > 10
    assert played.recovery_seconds == pytest.approx(by_charges, rel=0.15)
    assert played.client is not None
    assert played.course[0].objects_per_second > played.course[-3].objects_per_second


def test_without_recovery_clients_are_played_alone(study: Study) -> None:
    played = play(replace(study("hdd", "baseline"), seconds=10.0))
    assert (played.recovery_seconds, played.objects_per_second) == (None, 0)
    assert played.client is not None


def test_no_limit_no_time_by_charges(study: Study) -> None:
    assert queue_seconds(study("hdd", "WPQ(BST)")) is None
    assert queue_seconds(study("hdd", "baseline")) is None


# ---- calibration

PLAYED = Play(ClientFigures(13_000, 4.9e-3, 11e-3), 600.0, 130.0, 1.0, True, 0.5, ())


def test_factors_make_the_play_what_was_observed() -> None:
    found = calibrate(ObservedRecovery("ceph.log", 200, 120.0, 11_017.0), PLAYED, 1.0)
    assert found.client == pytest.approx(11_017 / 13_000)
    assert found.recovery == pytest.approx(120 / 130)
    assert found.is_of_clients


def test_clients_that_do_not_press_on_are_not_used() -> None:
    found = calibrate(ObservedRecovery("ceph.log", 200, 120.0, 300.0), PLAYED, 1.0)
    assert found.client == 1.0
    assert "are not of a closed loop" in found.note
    assert calibrate(None, PLAYED, 1.0) == QosCalibration()


# ---- the recommendation


def recommended(seen: QosView, objective: QosObjective = QosObjective.BALANCED) -> QosRecommendation:
    found = recommend(seen, seen.osds[0], objective, Here(), depth=8)
    assert found is not None
    return found


def test_objectives(view: Callable[..., QosView], short: None) -> None:
    seen = view(pg_dump=dump())
    found = {objective: recommended(seen, objective) for objective in QosObjective}
    client, recovery = found[QosObjective.CLIENT].pick, found[QosObjective.RECOVERY].pick
    assert client.mean_seconds <= recovery.mean_seconds
    assert recovery.recovery_seconds <= client.recovery_seconds
    for one in found.values():
        assert one.predictions[0].candidate.is_current
        assert one.pick in one.predictions
        assert any(prediction.is_on_front for prediction in one.predictions)
        assert one.reasons
        assert bool(one.commands) is not one.pick.candidate.is_current
        assert all(
            prediction.recovery_low <= prediction.recovery_seconds <= prediction.recovery_high
            for prediction in one.predictions
        )


def test_it_says_when_the_profile_changes_nothing(view: Callable[..., QosView], short: None) -> None:
    found = recommended(view(pg_dump=dump()))
    assert any("the profile changes nothing: concurrency binds" in reason for reason in found.reasons)


def test_the_same_twice(view: Callable[..., QosView], short: None) -> None:
    seen = view({"osd_op_queue": "wpq"}, pg_dump=dump(6, 20))
    first = recommended(seen)
    Here.known.clear()
    assert recommended(seen) == first


def test_an_observed_interval_calibrates(view: Callable[..., QosView], short: None) -> None:
    seen = view({"osd_op_queue": "wpq"}, pg_dump=dump(6, 20))
    plain = recommended(seen)
    now = plain.predictions[0]
    observed = ObservedRecovery("ceph.log", 100, now.objects_per_second / 2, 0.8 * now.client_iops)
    found = recommended(replace(seen, observed=observed))
    assert found.calibration.source == "ceph.log"
    assert found.predictions[0].client_iops == pytest.approx(observed.client_iops)
    assert found.predictions[0].recovery_seconds == pytest.approx(2 * plain.predictions[0].recovery_seconds, rel=0.01)
    narrower = found.predictions[0].recovery_high / found.predictions[0].recovery_low
    assert narrower < plain.predictions[0].recovery_high / plain.predictions[0].recovery_low


def test_other_profiles_of_an_unknown_set_are_not_compared(view: Callable[..., QosView], short: None) -> None:
    changed = {"osd_mclock_scheduler_client_res": "0.55"}
    found = recommended(view(changed, pg_dump=dump(6, 20)))
    assert {one.candidate.profile for one in found.predictions} == {"balanced"}
    assert any("other profiles are not compared" in reason for reason in found.reasons)


def test_threads_will_do_and_progress_is_told(view: Callable[..., QosView], short: None) -> None:
    seen = view({"osd_op_queue": "wpq"}, pg_dump=dump(6, 20))
    told: list[tuple[str, int, int]] = []

    def tell(name: str, done: int, total: int) -> None:
        told.append((name, done, total))

    with ThreadPoolExecutor(1) as executor:
        assert recommend(seen, seen.osds[0], QosObjective.BALANCED, executor, depth=4, on_played=tell) is not None
    assert [done for _, done, _ in told] == [1, 2, 3, 5]
    assert {total for *_, total in told} == {5}


def test_nothing_without_a_scheduler(tmp_path: Path) -> None:
    (tmp_path / "osd_metadata.json").write_text(json.dumps({"id": 0, "osd_data": "/x", "ceph_version": ""}))
    seen = view_of(read_material([str(tmp_path)]))
    assert recommend(seen, seen.osds[0], QosObjective.BALANCED, Here()) is None


@pytest.mark.parametrize(("version", "spins"), [("17.2.3", True), ("17.2.4", False), ("18.2.7", False)])
def test_releases_whose_workers_spin_at_a_limit(view: Callable[..., QosView], version: str, spins: bool) -> None:
    metadata = {"id": 0, "osd_data": "/x", "ceph_version": version, "rotational": "1"}
    seen = view(osd_metadata=metadata)
    candidates = Candidates(seen.osds[0])
    assert candidates.scheduler_of(candidates.current, 4 << 20).spins is spins
    facts = cluster_model(seen, seen.osds[0]).facts
    assert any("keep a processor busy" in fact for fact in facts) is spins


@pytest.mark.parametrize(("dedicated", "error"), [("1", 0.10), ("0", 0.35)])
def test_less_is_promised_where_the_database_is_on_the_disk(
    view: Callable[..., QosView], monkeypatch: pytest.MonkeyPatch, dedicated: str, error: float
) -> None:
    monkeypatch.setattr("lsmlens.tuners.qos.cluster_model.SIMULATED_SECONDS", {"hdd": 2.0, "nvme": 0.1})
    monkeypatch.setattr("lsmlens.tuners.qos.cluster_model.START_SECONDS", {"hdd": 0.1, "nvme": 0.01})
    metadata = {
        "id": 0,
        "ceph_version": "18.2.7",
        "rotational": "1",
        "bluefs_dedicated_db": dedicated,
        "osd_data": "/x",
    }
    seen = view(osd_metadata=metadata, pg_dump=dump(4, 2))
    said = recommend(seen, seen.osds[0], QosObjective.BALANCED, Here(), depth=4)
    assert said is not None
    assert {one.mean_error for one in said.predictions} == {error}
