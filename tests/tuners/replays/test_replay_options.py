"""Options as a replay must have them."""

from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.replays.replay_options import ages_below, for_replay, memtable_bytes, with_ages_times

FAMILY = {
    "write_buffer_size": "1000",
    "max_write_buffer_number": "4",
    "ttl": "600",
    "periodic_compaction_seconds": "18446744073709551614",
}


def resolved(**database: str) -> ResolvedOptions:
    return ResolvedOptions("a", "7.9.2", database, {"default": FAMILY, "O": {**FAMILY, "ttl": "0"}}, {})


def test_what_is_logged_by_the_clock_is_off() -> None:
    options = for_replay(resolved(stats_dump_period_sec="600", max_background_jobs="4"))
    assert options.database == {"stats_dump_period_sec": "0", "max_background_jobs": "4"}
    assert options.families == resolved().families


def test_one_manifest_is_kept_and_said_where_several_were_asked_for() -> None:
    options = for_replay(resolved(max_manifest_file_size="65536"))
    assert options.database == {"max_manifest_file_size": str(1 << 30)}
    assert options.warnings == ("max_manifest_file_size=65536: a replay keeps one MANIFEST, which moves no table",)
    large = resolved(max_manifest_file_size=str(1 << 40))
    assert for_replay(large) == large


def test_ages_a_workload_reaches() -> None:
    assert ages_below(resolved(), 3600.0) == {"default": {"ttl": 600}}
    assert ages_below(resolved(), 600.0) == {}


def test_ages_are_multiplied_and_last_a_second_at_least() -> None:
    assert with_ages_times(resolved(), 3600.0, 0.1).families["default"]["ttl"] == "60"
    assert with_ages_times(resolved(), 3600.0, 1e-6).families["default"]["ttl"] == "1"
    assert with_ages_times(resolved(), 3600.0, 0.1).families["O"] == resolved().families["O"]
    assert with_ages_times(resolved(), 60.0, 0.1) == resolved()


def test_memtables_take_what_the_least_limit_lets_them() -> None:
    assert memtable_bytes(resolved()) == 8000
    assert memtable_bytes(resolved(max_total_wal_size="2000", db_write_buffer_size="0")) == 3000
    assert memtable_bytes(resolved(max_total_wal_size="0", db_write_buffer_size="500")) == 500
