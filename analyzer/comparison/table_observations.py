"""Tables of published figures as observations: a CSV or TSV with the published labels, a column for each arm.

    metric,v17.2.6,reef-9d5a260e,reef-9d5a260e-newtuning
    Total OSD Log Duration (seconds),9857.44,9300.18,9166.42

Rows are known by the labels of the "Compaction Statistics" table or by the names of metrics; `compare -o FILE.csv`
writes such a table, and what ceph/cbt's ceph_rocksdb_log_parser.py prints is one too. Other rows are left out and
counted.
"""

import csv
import math

from lsmlens.analyzer.comparison.observations import Kind, Observation
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.metrics import LABELS, LOG_SECONDS, METRICS, of_part, values_of
from lsmlens.analyzer.units import MIB

_NAMES = {label: name for name, label in LABELS.items()} | {metric.name: metric.name for metric in METRICS}
# Metrics that a table without their rows tells all the same.
_MADE = ("compaction_busy_share", "output_mib_per_second")
# What the parser prints for the mean of nothing.
NOTHING = "-1"


def is_table(head: str) -> bool:
    """Whether a text begins like such a table: one of its first rows has a label that is known."""
    return any(_name_of(row[0]) for row in _rows(head[:4096]) if row)


def observe_table(path: str, text: str) -> list[tuple[str, Observation]]:
    """The arms of a table, in its order: their names, and what it says of them.

    Raises InputError for a table without a column of figures, or with two of one name.
    """
    rows = _rows(text)
    header = next((row for row in rows if row), [])
    names = [name.strip() for name in header[1:]]
    if not names or len(set(names)) < len(names):
        reason = "two columns have one name" if names else "no column of figures"
        raise InputError(path, reason, "the first row is `metric` and then the name of each arm")
    known: list[tuple[str, list[str]]] = []
    left_out = 0
    for row in rows[rows.index(header) + 1 :]:
        if not row:
            break  # the parser's list of compactions follows
        name = _name_of(row[0])
        if name is None:
            left_out += 1
        else:
            known.append((name, row[1:]))
    problems = (f"{left_out} row(s) have labels that are not known",) if left_out else ()
    return [(name, _observation(path, known, column, problems)) for column, name in enumerate(names)]


def _observation(path: str, rows: list[tuple[str, list[str]]], column: int, problems: tuple[str, ...]) -> Observation:
    values: dict[str, float] = {}
    printed: dict[str, str] = {}
    for name, cells in rows:
        cell = cells[column].strip() if column < len(cells) else ""
        value = None if cell == NOTHING else _number(cell)
        if value is not None:
            values[name], printed[name] = value, cell
    sums = {
        "compaction_seconds": values.get("total_compaction_seconds"),
        "output_bytes": values.get("total_output_size_mib", 0) * MIB,
        LOG_SECONDS: values.get("log_duration_seconds"),
    }
    made = {name: value for name, value in values_of(sums).items() if name in _MADE and value}
    return Observation(path, Kind.TABLE, made | values, problems=problems, printed=printed)


def _number(cell: str) -> float | None:
    try:
        value = int(cell) if cell.lstrip("-").isdigit() and len(cell) < 40 else float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _name_of(label: str) -> str | None:
    label = label.strip()
    return _NAMES.get(label) or (label if of_part(label) is not None else None)


def _rows(text: str) -> list[list[str]]:
    """The rows of a text, whichever of tab and comma parts its cells; a blank line is an empty row."""
    lines = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").splitlines()
    delimiter = "\t" if "\t" in "".join(lines[:3]) else ","
    try:
        return list(csv.reader(lines, delimiter=delimiter))
    except csv.Error:
        return []
