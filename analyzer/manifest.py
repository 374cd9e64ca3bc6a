"""The shape of a database by its MANIFEST: which tables each level holds, read through RocksDB's own library.

The MANIFEST and CURRENT are copied and opened read-only by themselves: no table is looked into, no WAL is replayed,
and nothing is written beside the database, which may be in use.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from lsmlens.analyzer.errors import InputError

# --- level 0 --- version# 2 ---
#  17:13052[1001 .. 2000]['30' seq:1001, type:1 .. '393939' seq:2000, type:1](0)
_LEVEL = re.compile(r"^--- level (\d+) ---", re.MULTILINE)
_TABLE = re.compile(r"^ (\d+):(\d+)\[", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LevelTables:
    """The tables of one level of a column family: the bytes of each by its number."""

    family: str
    level: int
    tables: dict[int, int]

    @property
    def bytes(self) -> int:
        """Those of all of them."""
        return sum(self.tables.values())


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a MANIFEST says: the levels that hold tables, and `rocksdb.stats` as the library prints it of them."""

    name: str
    levels: tuple[LevelTables, ...]
    stats: str


def read_manifest(path: Path) -> Manifest:
    """Read a MANIFEST, or that of a database's folder. Raises InputError where RocksDB cannot."""
    from rocksdict import AccessType, DbClosedError, Options, Rdict

    manifest = _manifest_at(path)
    with TemporaryDirectory(prefix="lsmlens-manifest-") as folder:
        try:
            shutil.copy(manifest, Path(folder, manifest.name))
        except OSError as error:
            raise InputError(str(manifest), error.strerror or str(error), "run as a user who may read it") from error
        Path(folder, "CURRENT").write_text(f"{manifest.name}\n")
        options = Options(raw_mode=True)
        options.set_paranoid_checks(False)  # tables are not there
        options.set_max_open_files(16)  # nor opened
        try:
            names = Rdict.list_cf(folder)
            families = {name: Options(raw_mode=True) for name in names}
            database = Rdict(folder, options, column_families=families, access_type=AccessType.read_only())
        except (Exception, DbClosedError) as error:  # the library raises plain ones
            reason = str(error).replace(folder, "").splitlines()[0]
            raise InputError(str(manifest), reason, "give a MANIFEST of a database that RocksDB reads") from error
        try:
            handles = {name: database.get_column_family(name) for name in names}
            levels = [
                one
                for name, handle in handles.items()
                for one in _levels(name, handle.property_value("rocksdb.sstables"))
            ]
            stats = [handle.property_value("rocksdb.cfstats-no-file-histogram") for handle in handles.values()]
            for handle in handles.values():
                handle.close()
        finally:
            database.close()
    return Manifest(manifest.name, tuple(levels), "\n".join(filter(None, stats)))


def manifest_of(document: object) -> Manifest | None:
    """What `lsmlens collect --db` kept of a MANIFEST; None for any other document."""
    try:
        return msgspec.convert(document, Manifest, str_keys=True)
    except msgspec.ValidationError:
        return None


def _manifest_at(path: Path) -> Path:
    if not path.is_dir():
        if not path.is_file():
            raise InputError(str(path), "no such file or folder", "give a MANIFEST, or a database's folder")
        return path
    try:
        current = (path / "CURRENT").read_text().strip()
    except (OSError, UnicodeDecodeError):
        current = ""
    found = path / current if current else max(path.glob("MANIFEST-*"), default=None)
    if found is None or not found.is_file():
        raise InputError(str(path), "no MANIFEST in it", "give a MANIFEST, or a database's folder")
    return found


def _levels(family: str, text: str | None) -> list[LevelTables]:
    parts = _LEVEL.split(text or "")
    found = []
    for level, tables in zip(parts[1::2], parts[2::2], strict=True):
        rows = [(int(number), int(size)) for number, size in _TABLE.findall(tables)]
        if rows:
            found.append(LevelTables(family, int(level), dict(sorted(rows))))
    return found
