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
        "window_sums": _window_sums(analysis),
    }
    if analysis.total is not None and analysis.total_statistics is not None:
        said["total"] = {
            "runs": list(analysis.counted_in_total),
            "compaction_statistics": asdict(analysis.total_statistics),
            "write_amplification": {"lsm": analysis.total.write_amplification, "total": None},
            **{name: value for name, value in family_values(analysis.total).items() if name in _SUMMED},
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


def _window_sums(analysis: Analysis) -> dict[str, Any] | None:
    """What a later comparison tells the noise of these figures by."""
    from lsmlens.analyzer.comparison.window_sums import window_sums

    found = window_sums([one.run for one in analysis.counted], analysis.selection)
    if found is None:
        return None
    return {
        "start_micros": found.start_micros,
        "seconds": found.seconds,
        "longest_job_seconds": found.longest_job_seconds,
        "columns": {
            name: [int(value) if value == int(value) else value for value in values]
            for name, values in found.columns.items()
            if "/" not in name
        },
    }


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
        "column_families": [family_values(family) for family in one.families],
        "levels": [level_values(level) for level in one.levels],
        "flushes": [flush_values(view) for view in one.flushes],
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


def family_values(family: FamilyWrites) -> dict[str, Any]:
    """What a document says of one column family, or of all together; by level they stand elsewhere."""
    values = asdict(family)
    del values["level0_output_bytes"]
    return {
        **values,
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
        "total_by": None if total is None else "counters" if total.is_by_counters else "statistics dumps",
    }


def flush_values(view: FlushView) -> dict[str, Any]:
    """What a document says of one column family's flushes."""
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
    return {name: value for name, value in family_values(sums).items() if name in _WINDOWED}


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


def level_values(level: LevelWrites) -> dict[str, Any]:
    """What a document says of one level."""
    return {**asdict(level), "output_input_ratio": level.output_input_ratio}
