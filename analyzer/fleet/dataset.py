"""The data set on disk: Parquet files by table, cluster, host, daemon and day, and what is known of each daemon.

    DATASET/dataset.json                                            the schema's version
    DATASET/jobs/cluster=C/host=H/daemon=osd.3/day=2026-11-20/jobs.parquet
    DATASET/_state/C/osd.3.json                                     contents that were added, files, what is carried on
    DATASET/_staging/C/osd.3/…                                      an addition that is not published yet

What an addition gives for one daemon is written to the staging folder whole, with a mark at the end, and then
renamed into place file by file. A run that is killed before the mark leaves nothing; one killed behind it is finished
by the next addition or by `check`. Readers see whole files at any time.
"""

import fcntl
import os
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

import msgspec
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.analyzer.fleet.carry import Carry
from lsmlens.analyzer.fleet.tables import SCHEMA, TABLES

if TYPE_CHECKING:
    import polars as pl

STATE, STAGING, DAMAGED, LOCK = "_state", "_staging", "_damaged", "_lock"
DESCRIPTION, MARK = "dataset.json", "_COMPLETE"
UNKNOWN_HOST: Final = "unknown"


class FileState(msgspec.Struct):
    """A file as it was written: its size and checksum; of tables, the lowest and highest number in it."""

    bytes: int
    checksum: int
    numbers: tuple[int, int] | None = None


class Session(msgspec.Struct):
    """An open of the database, by its number in the data set; times are microseconds since 1970."""

    number: int
    opened_at: int | None
    first_at: int | None
    last_at: int | None


class Content(msgspec.Struct):
    """A member that was added, and the days of the rows it gave."""

    member: str
    days: list[str]


class DaemonState(msgspec.Struct):
    """What is known of one daemon. `contents` are by fingerprint, `files` by path within the data set."""

    host: str = UNKNOWN_HOST
    device_class: str | None = None
    contents: dict[str, Content] = {}
    files: dict[str, FileState] = {}
    sessions: list[Session] = []
    carry: Carry | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it should be, whose it is, and whether it was put right; `is_lost` where rows are."""

    what: str
    daemon: str = ""
    is_repaired: bool = False
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set in a folder."""

    root: Path

    @classmethod
    def at(cls, path: Path) -> "DataSet":
        """The data set in a folder. Raises LsmlensError where there is none, or one of another version."""
        try:
            description = msgspec.json.decode((path / DESCRIPTION).read_bytes())
        except (OSError, msgspec.DecodeError) as error:
            raise LsmlensError(f"{path}: no data set of a fleet", "lsmlens fleet add makes one") from error
        found = description.get("schema") if isinstance(description, dict) else None
        if found != SCHEMA:
            raise LsmlensError(f"{path}: a data set of another version: {found}", f"this program has {SCHEMA}")
        return cls(path)

    @classmethod
    def made_at(cls, path: Path) -> "DataSet":
        """The data set in a folder that is there, or that is made when something is added. Raises LsmlensError."""
        if (path / DESCRIPTION).exists():
            return cls.at(path)
        try:
            if path.exists() and any(path.iterdir()):
                raise LsmlensError(f"{path}: a folder that holds something else", "name a new folder")
        except OSError as error:
            raise LsmlensError(f"{path}: {error.strerror or error}", "choose another place") from error
        if not path.parent.is_dir():
            raise LsmlensError(f"{path.parent}: no such folder", "make it first")
        return cls(path)

    def _make(self) -> None:
        if not (self.root / DESCRIPTION).exists():
            try:
                self.root.mkdir(exist_ok=True)
                write_whole(self.root / DESCRIPTION, msgspec.json.encode({"schema": SCHEMA}) + b"\n")
            except OSError as error:
                raise LsmlensError(f"{self.root}: {error.strerror or error}", "choose another place") from error

    @property
    def name(self) -> str:
        """What it is called: its folder."""
        return str(self.root)

    def scan(self, table: str) -> "pl.LazyFrame":
        """A table, lazily, with its partitions as columns; without rows where nothing was added yet."""
        import polars as pl

        partitions: dict[str, pl.DataType] = {
            "cluster": pl.String(),
            "host": pl.String(),
            "daemon": pl.String(),
            "day": pl.Date(),
        }
        kept = TABLES[table]
        if next((self.root / table).rglob("*.parquet"), None) is None:
            return pl.LazyFrame(schema=kept.schema | partitions)
        return pl.scan_parquet(
            self.root / table / "**" / "*.parquet",
            hive_partitioning=True,
            hive_schema=partitions,
            schema=kept.schema | partitions,
        )

    def states(self) -> Iterator[tuple[str, str, DaemonState]]:
        """Every daemon: cluster, daemon, and what is known of it."""
        for path in sorted((self.root / STATE).glob("*/*.json")):
            yield unquote(path.parent.name), unquote(path.stem), _decoded(path)

    def state_of(self, cluster: str, daemon: str) -> DaemonState:
        """What is known of one daemon."""
        path = self.root / _state_path(cluster, daemon)
        return _decoded(path) if path.exists() else DaemonState()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps other additions away, and settles what an earlier one left behind. Raises LsmlensError."""
        self._make()
        with (self.root / LOCK).open("wb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise LsmlensError(f"{self.root}: another program is adding to it", "wait until it is done") from error
            self.settle()
            yield

    def settle(self) -> list[Problem]:
        """Publish the additions that were complete, and take the others away."""
        found = []
        for folder in sorted((self.root / STAGING).glob("*/*")):
            daemon = unquote(folder.name)
            if (folder / MARK).exists():
                self._publish(folder)
                found.append(Problem("an addition was complete but not published", daemon, is_repaired=True))
            else:
                shutil.rmtree(folder)
                found.append(Problem("an addition was not complete, and is taken back", daemon, is_repaired=True))
        return found

    @contextmanager
    def addition(self, cluster: str, daemon: str) -> Iterator["Addition"]:
        """New files of one daemon, published together at the end, or none of them if it is left by an exception."""
        self._make()
        folder = self.root / STAGING / _quoted(cluster) / _quoted(daemon)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        addition = Addition(self.root, folder, cluster, daemon, self.state_of(cluster, daemon))
        try:
            yield addition
            state = folder / _state_path(cluster, daemon)
            state.parent.mkdir(parents=True)
            write_whole(state, msgspec.json.encode(addition.state))
            write_whole(folder / MARK, b"")
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._publish(folder)

    def _publish(self, folder: Path) -> None:
        for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MARK):
            place = self.root / file.relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            file.replace(place)
        shutil.rmtree(folder)

    def check(self, is_to_repair: bool) -> list[Problem]:
        """What is not as it was written.

        A repair settles unfinished additions, moves damaged files aside, and forgets the contents that gave their
        rows, so that these can be added again.
        """
        found = self.settle() if is_to_repair else self._unsettled()
        known: set[str] = set()
        for cluster, daemon, state in self.states():
            known |= state.files.keys()
            wrong = {path: why for path, file in state.files.items() if (why := self._fault(path, file))}
            found += [
                Problem(f"{path}: {why}", daemon, is_to_repair, is_lost=True) for path, why in sorted(wrong.items())
            ]
            if wrong and is_to_repair:
                self._forget(cluster, daemon, state, wrong)
        for table in TABLES:
            for file in sorted((self.root / table).rglob("*.parquet")):
                path = str(file.relative_to(self.root))
                if path not in known:
                    found.append(Problem(f"{path}: a file that no addition wrote", is_repaired=is_to_repair))
                    if is_to_repair:
                        self._put_aside(path)
        return found

    def _unsettled(self) -> list[Problem]:
        folders = sorted((self.root / STAGING).glob("*/*"))
        return [Problem("an addition that was not finished", unquote(folder.name)) for folder in folders]

    def _fault(self, path: str, file: FileState) -> str:
        try:
            content = (self.root / path).read_bytes()
        except OSError as error:
            return error.strerror or str(error)
        return "" if (len(content), zlib.crc32(content)) == (file.bytes, file.checksum) else "not as it was written"

    def _forget(self, cluster: str, daemon: str, state: DaemonState, paths: Mapping[str, str]) -> None:
        days = {path.split("day=")[1].split("/")[0] for path in paths}
        for path in paths:
            self._put_aside(path)
            del state.files[path]
        state.contents = {one: content for one, content in state.contents.items() if not days & set(content.days)}
        write_whole(self.root / _state_path(cluster, daemon), msgspec.json.encode(state))

    def _put_aside(self, path: str) -> None:
        file = self.root / path
        if file.exists():
            place = self.root / DAMAGED / path
            place.parent.mkdir(parents=True, exist_ok=True)
            file.replace(place)

    def drop_before(self, day: date) -> int:
        """Take away the rows of all days before this one; how many days of daemons that were."""
        dropped = set()
        for cluster, daemon, state in self.states():
            old = [path for path in state.files if path.split("day=")[1].split("/")[0] < day.isoformat()]
            for path in old:
                del state.files[path]
            if old:
                write_whole(self.root / _state_path(cluster, daemon), msgspec.json.encode(state))
            for path in old:
                file = self.root / path
                file.unlink(missing_ok=True)
                dropped.add((cluster, daemon, file.parent.name))
                with_nothing = file.parent
                while with_nothing != self.root and not any(with_nothing.iterdir()):
                    with_nothing.rmdir()
                    with_nothing = with_nothing.parent
        return len(dropped)


@dataclass(slots=True)
class Addition:
    """The new files and the new state of one daemon, in a staging folder."""

    root: Path
    folder: Path
    cluster: str
    daemon: str
    state: DaemonState

    def path_of(self, table: str, day: date) -> str:
        """Where the rows of one day stand within the data set: where they stand already, else under the host's name."""
        place = f"daemon={_quoted(self.daemon)}/day={day.isoformat()}/{table}.parquet"
        old = (path for path in self.state.files if path.startswith(f"{table}/") and path.endswith(place))
        new = f"{table}/cluster={_quoted(self.cluster)}/host={_quoted(self.state.host)}/{place}"
        return next(old, new)

    def rows_of(self, path: str) -> "pl.DataFrame | None":
        """The rows that stand at a path, with those of this addition; None where there are none."""
        import polars as pl

        file = self.folder / path
        if not file.exists():
            file = self.root / path
        return pl.read_parquet(file, hive_partitioning=False) if file.exists() else None

    def write(self, path: str, rows: "pl.DataFrame") -> None:
        """Put rows in the place of those that stand at a path."""
        import pyarrow.parquet as pq

        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        arrow = rows.to_arrow(compat_level=pl_compatibility()).replace_schema_metadata({"lsmlens": SCHEMA})
        pq.write_table(arrow, file, compression="zstd")
        content = file.read_bytes()
        _sync(file)
        numbers = (rows["number"].min(), rows["number"].max()) if "number" in rows.columns else None
        self.state.files[path] = msgspec.convert(
            {"bytes": len(content), "checksum": zlib.crc32(content), "numbers": numbers}, FileState
        )


def pl_compatibility() -> "pl.CompatLevel":
    """Strings and lists as readers of all ages know them."""
    import polars as pl

    return pl.CompatLevel.oldest()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is there whole, and on disk, or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(content)
        _sync(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _state_path(cluster: str, daemon: str) -> str:
    return f"{STATE}/{_quoted(cluster)}/{_quoted(daemon)}.json"


def _quoted(name: str) -> str:
    """A name as a folder's: osd.3 stays as it is, and what would lead elsewhere does not."""
    text = quote(name, safe="")
    return text.replace(".", "%2E") if set(text) <= {"."} else text


def _decoded(path: Path) -> DaemonState:
    try:
        return msgspec.json.decode(path.read_bytes(), type=DaemonState)
    except (OSError, msgspec.DecodeError) as error:
        raise LsmlensError(f"{path}: cannot be read: {error}", "delete it, and add its logs again") from error
