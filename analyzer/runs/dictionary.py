"""The dictionary of columns: what each column of a run's tables holds, as a page."""

import msgspec
from lsmlens.analyzer.runs.columns import Column, columns_of
from lsmlens.analyzer.runs.jobs import BlobFile, Job, Open, OtherEvent, Stall, Table

TABLES: dict[str, tuple[type[msgspec.Struct], str]] = {
    "jobs": (Job, "One row a finished flush, compaction or trivial move; `unfinished` has those that only started."),
    "tables": (Table, "One row a table file that was created."),
    "blob_files": (BlobFile, "One row a blob file that was created."),
    "opens": (Open, "One row an open of the database."),
    "stalls": (Stall, "One row a line that says writes were slowed down or stopped."),
    "other_events": (OtherEvent, "Events that no other table tells of, and fields of events that have no column."),
}
_TYPES = {"str": "String", "time": "Datetime(us, UTC)"}


def page() -> str:
    """The dictionary in Markdown, a table for each table of a run."""
    parts = [
        "# Columns",
        "",
        "What the tables of a run hold: `analysis.run(NAME).jobs` and so on, and the Parquet files.",
    ]
    for name, (row, said) in TABLES.items():
        parts += ["", f"## {name}", "", said, "", "| column | type | unit | |", "|---|---|---|---|"]
        parts += [_line(column, of) for column, of in columns_of(row).items()]
    return "\n".join(parts) + "\n"


def _line(name: str, column: Column) -> str:
    kind = "Enum" if column.values else _TYPES.get(column.type, column.type)
    return f"| `{name}` | {kind} | {column.unit} | {column.meaning} |"
