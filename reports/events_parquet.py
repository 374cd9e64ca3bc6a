"""Every event of a bundle as one Parquet table, for polars, DuckDB, Spark and pandas.

One row an event, one column a known field (null where a kind has none), table properties as a struct; what no
schema knows is kept as JSON in `other_fields`. Integers that do not fit 64 bits signed (UINT64_MAX stands for
"none" in sequence numbers) are null.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.events import INT64_MAX, SCHEMAS, Event
from lsmlens.analyzer.table_properties import PROPERTY_RENAMED, TABLE_PROPERTIES
from lsmlens.analyzer.units import MICROS

BATCH_ROWS = 1 << 14
_ARROW: dict[type, pa.DataType] = {int: pa.int64(), float: pa.float64(), str: pa.string()}
_STITCHED: dict[str, pa.DataType] = {
    "session": pa.int32(),
    "column_family": pa.string(),
    "attributed_by": pa.string(),
    "started_micros": pa.int64(),
    "created_files": pa.int64(),
    "created_bytes": pa.int64(),
    "created_records": pa.int64(),
    "created_deletions": pa.int64(),
    "created_blob_bytes": pa.int64(),
    "true_flush_reason": pa.string(),
    "input_files": pa.int64(),
    "input_levels": pa.list_(pa.int64()),
}
_LISTS: dict[str, pa.DataType] = {"lsm_state": pa.list_(pa.int64()), "wal_files": pa.list_(pa.int64())}
_PROPERTIES = pa.struct([(name, _ARROW[kind]) for name, kind in TABLE_PROPERTIES.items()])


def _columns() -> dict[str, pa.DataType]:
    columns: dict[str, pa.DataType] = {
        "run": pa.string(),
        "event": pa.string(),
        "time": pa.timestamp("us", "UTC"),
        "time_micros": pa.int64(),
        "job": pa.int64(),
        **_STITCHED,
    }
    for schema in SCHEMAS.values():
        for name, kind in schema.items():
            if kind in _ARROW:
                columns.setdefault(name, _ARROW[kind])
    return {**columns, **_LISTS, "table_properties": _PROPERTIES, "other_fields": pa.string()}


COLUMNS = _columns()


def write_events(analysis: Analysis, path: Path) -> None:
    """Write all events of all runs, whatever was selected, in the order of their logs."""
    schema = pa.schema(list(COLUMNS.items()))
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        rows: list[dict[str, Any]] = []
        for row in _rows(analysis):
            rows.append(row)
            if len(rows) == BATCH_ROWS:
                writer.write_table(pa.Table.from_pylist(rows, schema))
                rows = []
        if rows:
            writer.write_table(pa.Table.from_pylist(rows, schema))


def _rows(analysis: Analysis) -> Iterator[dict[str, Any]]:
    for one in analysis.runs:
        for event in one.run.events:
            yield {"run": one.run.name, **_row(event)}


def _row(event: Event) -> dict[str, Any]:
    row: dict[str, Any] = {}
    other: dict[str, Any] = {}
    for name, value in event.items():
        kind = COLUMNS.get(name)
        if name == "table_properties":
            row[name], unknown = _properties(value)
            if unknown:
                other[name] = unknown
        elif kind is not None and _fits(value, kind):
            row[name] = value
        elif value is not None and value != UINT64_MAX:
            other[name] = value
    micros = event["time_micros"]
    row["time"] = micros if micros < 253402300800 * MICROS else None  # the year 10000 is past what readers take
    row["other_fields"] = _json(other) if other else None
    return row


def _properties(properties: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    known: dict[str, Any] = {}
    unknown: dict[str, Any] = {}
    for name, value in properties.items():
        name = PROPERTY_RENAMED.get(name, name)
        kind = TABLE_PROPERTIES.get(name)
        if kind is not None and _fits(value, _ARROW[kind]):
            known[name] = value
        elif value is not None and value != UINT64_MAX:
            unknown[name] = value
    return known, unknown


UINT64_MAX = (1 << 64) - 1


def _fits(value: object, kind: pa.DataType) -> bool:
    if pa.types.is_list(kind):
        return isinstance(value, list) and all(_fits(item, kind.value_type) for item in value)
    if pa.types.is_integer(kind):
        return type(value) is int and -INT64_MAX - 1 <= value <= INT64_MAX
    if pa.types.is_floating(kind):
        return type(value) in (int, float)
    return isinstance(value, str)


def _json(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # integers over 64 bits
        import json

        return json.dumps(value)
