"""Tables of typed columns: declared once as a class of rows, filled row by row, read as polars frames.

    class Table(msgspec.Struct):
        number: Annotated[int, Column(I64, "", "The file's number.")]

The annotations give mypy a row's types, polars its schema, and the docs their dictionary of columns.
"""

from array import array
from collections.abc import Callable, Sequence
from functools import cache
from itertools import starmap
from typing import IO, Annotated, Generic, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import msgspec
import polars as pl
from lsmlens.analyzer.logs.spool import temporary_file, writing

I8, I16, I32, I64, F64, TEXT, TIME = "i8", "i16", "i32", "i64", "f64", "str", "time"
I32_LIST, I64_LIST = "list[i32]", "list[i64]"
PACKED_ROWS = 1 << 11
BYTES_IN_MEMORY = 4 << 20
_JSON = msgspec.json.Encoder()

RowT = TypeVar("RowT", bound=msgspec.Struct)


class Column(NamedTuple):
    """How a column is kept and what it says: type, unit and meaning; `values` where only these can be."""

    type: str
    unit: str
    meaning: str
    values: tuple[str, ...] = ()

    @property
    def dtype(self) -> pl.DataType:
        """The polars type; times are microseconds in UTC."""
        if self.values:
            return pl.Enum(self.values)
        numbers = {I8: pl.Int8(), I16: pl.Int16(), I32: pl.Int32(), I64: pl.Int64(), F64: pl.Float64()}
        if self.type.startswith("list"):
            return pl.List(numbers[self.type[5:-1]])
        return {**numbers, TEXT: pl.String(), TIME: pl.Datetime("us", "UTC")}[self.type]


@cache
def columns_of(row: type[msgspec.Struct]) -> dict[str, Column]:
    """The columns a class of rows declares, by name, in order."""
    columns = {}
    for name, hint in get_type_hints(row, include_extras=True).items():
        if get_origin(hint) is Annotated:
            columns[name] = next(one for one in get_args(hint)[1:] if isinstance(one, Column))
    return columns


class Rows(Generic[RowT]):
    """Rows in the order they were added, as typed columns: the newest in memory, the others in temporary files.

    The files have no name, and are gone with the rows. `late` names a column of times that may be told after its row
    was added.
    """

    def __init__(self, row: type[RowT], late: str | None = None) -> None:
        self._row = row
        self._rows: list[RowT] = []
        self._packed: list[pl.DataFrame] = []
        self._files: list[IO[bytes]] = []
        self._late = late
        self._late_times = array("q")
        self._length = 0

    def __del__(self) -> None:
        for file in self._files:
            file.close()

    def append(self, row: RowT) -> int:
        """Add one row at the end; its place."""
        self._rows.append(row)
        if self._late is not None:
            self._late_times.append(getattr(row, self._late) or 0)
        self._length += 1
        if len(self._rows) == PACKED_ROWS:
            self._pack()
        return self._length - 1

    def tell(self, place: int, micros: int) -> None:
        """What the late column of the row at a place holds."""
        self._late_times[place] = micros

    def __len__(self) -> int:
        return self._length

    def lazy(self) -> pl.LazyFrame:
        """All rows so far, good while the rows are kept; a query reads no more than the columns it names."""
        if self._rows or not self._length:
            self._pack()
        parts = []
        if self._files:
            for file in self._files:
                file.seek(0)
            parts.append(pl.scan_ipc(self._files))
        if self._packed:
            self._packed = [pl.concat(self._packed, rechunk=False)]
            parts.append(self._packed[0].lazy())
        rows = pl.concat(parts)
        if self._late is not None:
            times = pl.Series(self._late, self._late_times, pl.Int64).replace(0, None)
            rows = rows.with_columns(times.cast(pl.Datetime("us", "UTC")))
        return rows

    def frame(self) -> pl.DataFrame:
        """All rows so far with all their columns."""
        return self.lazy().collect()

    def mapped(self, change: Callable[[pl.DataFrame], pl.DataFrame]) -> "Rows[RowT]":
        """The rows as a change of their frame leaves them, complete."""
        made = Rows(self._row)
        made._packed = [change(self.frame())]
        made._length = self._length
        return made

    def _pack(self) -> None:
        """Put rows into columns, and these into a file when they are many."""
        self._packed.append(frame(self._row, self._rows))
        self._rows = []
        if sum(one.estimated_size() for one in self._packed) > BYTES_IN_MEMORY:
            file = temporary_file()
            with writing(file):
                pl.concat(self._packed, rechunk=False).write_ipc(file)
            self._files.append(file)
            self._packed = []


def frame(row: type[RowT], rows: Sequence[RowT]) -> pl.DataFrame:
    """Rows as a frame with the columns their class declares."""
    columns = columns_of(row)
    values = zip(*map(msgspec.structs.astuple, rows), strict=True) if rows else iter([()] * len(columns))
    return pl.DataFrame(
        list(
            starmap(
                _series, ((name, column, said) for (name, column), said in zip(columns.items(), values, strict=True))
            )
        )
    )


def _series(name: str, column: Column, values: Sequence[object]) -> pl.Series:
    """Values that cannot be of the column's type become null."""
    if column.type.startswith("list"):  # lists one by one cost thirty times as much
        texts = _JSON.encode_lines(values).decode().splitlines()
        return pl.Series(name, texts, pl.String).str.json_decode(column.dtype)
    if column.type == TIME:
        return pl.Series(name, values, pl.Int64, strict=False).cast(column.dtype)
    return pl.Series(name, values, column.dtype, strict=False)
