"""The analysis as a JSON document, as the schema `lsmlens.analysis/1` describes it."""

from dataclasses import asdict
from typing import Any

from lsmlens.analyzer.amplification import FamilyWrites, LevelWrites
from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.analyzer.flushes import FlushView
from lsmlens.reports.json_life import life
from lsmlens.reports.moments import moment, moment_of_micros

SCHEMA = "lsmlens.analysis/1"


def document(analysis: Analysis) -> dict[str, Any]:
    """Everything an analysis says, as JSON values; the same bytes for the same input."""
    said: dict[str, Any] = {
        "schema": SCHEMA,
        "members": [
            {"path": member.path, "role": str(member.role), "bytes": member.size, "problem": member.problem}
            for member in analysis.members
        ],
        "selection": {
            "since": analysis.selection.since,
            "until": analysis.selection.until,
            "column_families": sorted(analysis.selection.column_families),
            "level": analysis.selection.level,
        },
        "runs": [_run(one) for one in analysis.runs],
        "total": None,
    }
    if analysis.total is not None and analysis.total_statistics is not None:
        said["total"] = {
            "runs": list(analysis.counted_in_total),
            "compaction_statistics": asdict(analysis.total_statistics),
            "write_amplification": {"lsm": analysis.total.write_amplification, "total": None},
            **{name: value for name, value in _family(analysis.total).items() if name in _SUMMED},
        }
    return said


def to_json(analysis: Analysis) -> str:
    """The document as indented JSON text, ending in a newline."""
    import orjson

    said = document(analysis)
    try:
        return orjson.dumps(said, option=orjson.OPT_INDENT_2).decode() + "\n"
    except TypeError:  # sums of damaged events' numbers may pass 64 bits
        import json

        return json.dumps(said, indent=2) + "\n"


_SUMMED = ("flushes", "flush_bytes", "compaction_input_bytes", "compaction_output_bytes", "trivial_moves")


def _run(one: RunAnalysis) -> dict[str, Any]:
    run, quality = one.run, one.run.quality
    return {
        "name": run.name,
        "monitor": run.is_monitor,
        "members": run.members,
        "ceph_version": run.ceph_version,
        "rocksdb_version": run.rocksdb_version,
        "utc_offset_seconds": run.utc_offset_seconds,
        "sessions": [
            {
                "opened_at": moment(session.opened_at_millis, run.utc_offset_seconds),
                "closed_at": moment_of_micros(session.last_event_micros),
                "rocksdb_version": session.rocksdb_version,
                "ceph_version": session.ceph_version,
                "db_session_id": session.session_id,
            }
            for session in run.sessions
        ],
        "events": dict(sorted(run.event_counts.items())),
        "compaction_statistics": asdict(one.statistics),
        "column_families": [_family(family) for family in one.families],
        "levels": [_level(level) for level in one.levels],
        "flushes": [_flushes(view) for view in one.flushes],
        "windows": [{"start": moment_of_micros(start), **_window(sums)} for start, sums in one.windows],
        "write_amplification": _amplification(one),
        **life(one),
        "data_quality": {
            "lines": quality.lines,
            "lines_estimated": quality.lines_are_estimated,
            "bytes": quality.bytes,
            "events_rejected": quality.events_rejected,
            "events_cut": quality.events_cut,
            "duplicates_removed": quality.duplicates_removed,
            "compactions_without_column_family": quality.without_column_family["compaction"],
            "flushes_without_column_family": quality.without_column_family["flush"],
            "moves_without_column_family": quality.without_column_family["move"],
            "column_family_found_by": dict(sorted(quality.attributed_by.items())),
            "without_start": dict(sorted(quality.without_start.items())),
            "without_finish": dict(sorted(quality.without_finish.items())),
            "unknown_events": dict(sorted(quality.unknown_events.items())),
            "unknown_fields": dict(sorted(quality.unknown_fields.items())),
            "clock_steps_back": run.stamps.steps,
            "not_understood": [asdict(line) for line in quality.not_understood],
            "notes": list(one.notes),
        },
    }


def _family(family: FamilyWrites) -> dict[str, Any]:
    return {
        **asdict(family),
        "output_input_ratio": family.output_input_ratio,
        "write_amplification": family.write_amplification,
    }


def _amplification(one: RunAnalysis) -> dict[str, Any]:
    total = one.total_amplification
    return {
        "lsm": one.total.write_amplification,
        "total": total.ratio if total else None,
        "total_user_bytes": total.user_bytes if total else None,
        "total_wal_bytes": total.wal_bytes if total else None,
        "total_table_bytes": total.table_bytes if total else None,
    }


def _flushes(view: FlushView) -> dict[str, Any]:
    return {
        "column_family": view.name,
        "flushes": view.flushes,
        "input_entries": view.input_entries,
        "input_deletes": view.input_deletes,
        "output_entries": view.output_entries,
        "output_deletes": view.output_deletes,
        "dropped_entries": view.dropped_entries,
        "dropped_share": view.dropped_share,
        "dropped_puts_share": view.dropped_puts_share,
        "empty_flushes": view.empty_flushes,
        "reasons": dict(sorted(view.reasons.items())),
        "memtables": {str(count): times for count, times in sorted(view.memtables.items())},
        "memtables_per_flush": view.memtables_per_flush,
    }


def _window(sums: FamilyWrites) -> dict[str, Any]:
    return {name: value for name, value in _family(sums).items() if name in _WINDOWED}


_WINDOWED = (
    "flushes",
    "flush_bytes",
    "compactions",
    "compaction_input_bytes",
    "compaction_output_bytes",
    "compaction_seconds",
    "trivial_moves",
    "write_amplification",
)


def _level(level: LevelWrites) -> dict[str, Any]:
    return {**asdict(level), "output_input_ratio": level.output_input_ratio}
