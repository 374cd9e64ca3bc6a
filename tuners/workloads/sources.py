"""What a person names as a workload, as a stream: a preset, a document, a query trace, or an OSD's log with batches."""

from collections.abc import Mapping
from pathlib import Path

from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.workloads.batch_lines import BatchLinesStream, open_batch_lines
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.presets import load_preset, preset_names
from lsmlens.tuners.workloads.trace_file import is_trace
from lsmlens.tuners.workloads.traces import TraceStream, open_trace
from lsmlens.tuners.workloads.yaml_form import read_workload

YAML_SUFFIXES = {".yaml", ".yml"}
SCHEMA_KEYS = (b"schema:", b'"schema":')  # JSON is YAML, too


def open_workload(
    text: str, sharding: Mapping[str, int] | None = None
) -> DeclaredStream | TraceStream | BatchLinesStream:
    """The stream of a preset's name or a file's path; what the file is, its content says.

    `sharding` says to which column families documents and logs are written: see `routes`; traces have ids of their
    own. Raises InputError that says what a workload can be.
    """
    if text in preset_names():
        return DeclaredStream(load_preset(text), sharding)
    path = Path(text)
    head = _head(text)
    if is_trace(head):
        return open_trace(path)
    if path.suffix.lower() in YAML_SUFFIXES or any(key in head for key in SCHEMA_KEYS):
        return DeclaredStream(read_workload(path), sharding)
    try:
        return open_batch_lines(path, sharding)
    except InputError as error:
        kinds = "no workload document, no query trace, no log with write batches"
        hint = "to learn a workload from a log: lsmlens workload LOG -o workload.yaml"
        raise InputError(text, kinds, hint) from error


def _head(text: str) -> bytes:
    try:
        with Path(text).open("rb") as file:
            return file.read(4096)
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or str(error)
        if isinstance(error, FileNotFoundError):
            what = "no such file, and no preset of this name"
        raise InputError(text, what, _hint()) from error


def _hint() -> str:
    kinds = "a YAML document, a RocksDB query trace, an OSD's log with write batches"
    return f"a workload is {kinds}, or one of the presets {', '.join(preset_names())}"
