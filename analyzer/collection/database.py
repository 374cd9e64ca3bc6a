"""A bundle of a database without Ceph: the LOG with its older pieces, OPTIONS, and its shape by the MANIFEST."""

import json
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile

from lsmlens.analyzer.bundles.compression import DamagedStream
from lsmlens.analyzer.collection.bundle import SCHEMA, Redact, Told, add_content, add_file, archive_at, blocks_of_lines
from lsmlens.analyzer.collection.secrets import shapes_withheld
from lsmlens.analyzer.errors import InputError, LsmlensError
from lsmlens.analyzer.manifest import read_manifest

OPTIONS_KEPT = 2  # the newest; RocksDB itself keeps two


def collect_database(
    folder: Path,
    path: Path,
    suffix: str,
    since_seconds: float,
    redact: Redact | None = None,
    on_progress: Callable[[str, int, int], None] | None = None,
) -> list[Told]:
    """Write what a database's folder tells into an archive; what became of each file.

    Of the LOG those pieces are taken that were written to within `since_seconds`, and the one that is being written.
    Raises InputError where there is no LOG, OSError where the archive cannot be written.
    """
    files = _files(folder, since_seconds)
    told: list[Told] = []
    with archive_at(path, suffix) as archive:
        for done, file in enumerate(files, 1):
            one = Told(file.name, "")
            told.append(one)
            try:
                with file.open("rb", buffering=0) as source, TemporaryFile(dir=path.parent) as kept:
                    for lines in blocks_of_lines(DamagedStream(source)):
                        clean = shapes_withheld(lines)
                        kept.write(redact(clean.decode(errors="replace")).encode() if redact else clean)
                    one.bytes = kept.tell()
                    kept.seek(0)
                    add_file(archive, file.name, kept, one.bytes, file.stat().st_mtime)
            except PermissionError as error:
                one.failure = error.strerror or str(error)
            if on_progress is not None:
                on_progress(file.name, done, len(files) + 1)
        shape = Told("manifest.json", "")
        told.append(shape)
        try:
            manifest = read_manifest(folder)
        except LsmlensError as error:
            shape.failure = str(error)
        else:
            levels = asdict(manifest)
            shape.bytes = add_content(archive, "manifest.json", json.dumps(levels, indent=1).encode() + b"\n")
        failed = [{"file": one.file, "why": one.failure} for one in told if one.failure]
        summary = {
            "schema": SCHEMA,
            "ended_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "failed": failed,
            "steps": [asdict(one) for one in told],
        }
        text = json.dumps(summary, indent=1)
        add_content(archive, "collection.json", (redact(text) if redact else text).encode() + b"\n")
    return told


def _files(folder: Path, since_seconds: float) -> list[Path]:
    try:
        names = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(str(folder), (error.strerror or str(error)).lower(), "give a database's folder") from error
    logs = [one for one in names if one.name == "LOG" or one.name.startswith("LOG.old")]
    if not logs:
        raise InputError(str(folder), "no LOG in it", "give a database's folder, or its db_log_dir")
    oldest = time.time() - since_seconds
    options = [one for one in names if one.name.startswith("OPTIONS-") and not one.name.endswith(".dbtmp")]
    return [*(one for one in logs if one.name == "LOG" or one.stat().st_mtime >= oldest), *options[-OPTIONS_KEPT:]]
