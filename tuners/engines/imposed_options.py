"""Options that an engine sets by itself: its own folder, and a merge operator."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from lsmlens.tuners.engines import deletion_collectors
from lsmlens.tuners.options.resolved_options import ResolvedOptions

OPENING = {"create_if_missing": "true", "create_missing_column_families": "true", "error_if_exists": "false"}
ONE_FOLDER = {"wal_dir": "", "db_log_dir": "", "db_paths": "", "cf_paths": ""}
# Any that keeps the length of what it merges gives the same bytes; these are the ones the engines set.
MERGE_OPERATOR = "merge_operator"
MERGE_OPERATORS = ("", "nullptr", "put", "PutOperator", "LastOperand")
SET_OTHERWISE = ("cf_paths", MERGE_OPERATOR, deletion_collectors.OPTION)


def for_replay(asked: ResolvedOptions, has_collectors: bool) -> ResolvedOptions:
    """The options to be set by name, with a warning for each that is not set as asked.

    `has_collectors` says whether the engine sets the families' deletion collectors by itself.
    """
    missing = deletion_collectors.collector_warnings(asked.families, has_collectors)
    warnings = tuple(dict.fromkeys((*asked.warnings, *_warnings(asked), *missing)))
    database = {name: value for name, value in asked.database.items() if name not in ONE_FOLDER}
    return replace(
        asked,
        database=database | OPENING,
        families={family: _without(values) for family, values in asked.families.items()},
        warnings=warnings,
    )


def without_folders(effective: ResolvedOptions) -> ResolvedOptions:
    """Options as RocksDB wrote them, without the names of a replay's own folder."""
    return replace(effective, database={k: v for k, v in effective.database.items() if k not in ONE_FOLDER})


def _without(values: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in values.items() if name not in SET_OTHERWISE}


def _warnings(asked: ResolvedOptions) -> Iterator[str]:
    for name, value in asked.database.items():
        if name in ONE_FOLDER and value not in ("", "{}"):
            yield f"{name}={value}: a replay keeps all its files in one folder"
    for values in asked.families.values():
        if values.get("cf_paths", "") not in ("", "{}"):
            yield f"cf_paths={values['cf_paths']}: a replay keeps all its files in one folder"
        if values.get(MERGE_OPERATOR, "") not in MERGE_OPERATORS:
            yield f"{MERGE_OPERATOR}={values[MERGE_OPERATOR]}: a replay merges to the last operand"
