"""All text that a Parquet file holds."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq


def text_of_parquet(file: Path) -> str:
    """Every string in the file's columns, also of lists and structs, and the columns' names; one a line."""
    return "\n".join(_strings(pq.read_table(file).to_pylist()))


def _strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return _strings([*value.keys(), *value.values()])
    if isinstance(value, list | tuple):
        return [text for item in value for text in _strings(item)]
    return [value] if isinstance(value, str) else []
