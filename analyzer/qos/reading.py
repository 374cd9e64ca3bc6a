"""From paths to what they hold on scheduling.

The bundle is read twice: for what RocksDB wrote (`analyze`), and here for documents and for the few lines that OSDs,
monitors and the manager write on scheduling. A bundle without any log will do if it has one of these documents.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from typing import TYPE_CHECKING

from lsmlens.analyzer.bundles.companions import Companion
from lsmlens.analyzer.bundles.compression import DamagedStream
from lsmlens.analyzer.bundles.members import STANDARD_INPUT, Member, open_bundle
from lsmlens.analyzer.bundles.roles import Role, daemon_of_name, recognise_json
from lsmlens.analyzer.bundles.roles import recognise_text as role_of_text
from lsmlens.analyzer.bundles.transports import UnwrappedStream, unwrapping
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.logs.blocks import MappedBlocks, StreamedBlocks
from lsmlens.analyzer.qos.belonging import Collection, osds_of
from lsmlens.analyzer.qos.documents import (
    QosDocument,
    read_cluster,
    read_config_dump,
    recognise,
    recognise_text,
)
from lsmlens.analyzer.qos.line_search import LineSearch
from lsmlens.analyzer.qos.log_lines import OF_CLUSTER, QosLine
from lsmlens.analyzer.qos.material import Document, QosMaterial
from lsmlens.analyzer.qos.placement_groups import PlacementGroup, read_pg_dump
from lsmlens.analyzer.runs.osds import is_osd

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import Analysis
    from lsmlens.analyzer.clients.client_results import ClientResult

# A pg dump of a large cluster has some kilobytes for each placement group.
DOCUMENT_BYTES = 512 << 20
_LOADS = (Role.FIO_RESULT, Role.RADOS_BENCH_RESULT)


@contextmanager
def rereadable(paths: Sequence[str]) -> Iterator[list[str]]:
    """The paths, standard input kept in a temporary file while it is needed, for it can be read but once."""
    if STANDARD_INPUT not in paths:
        yield list(paths)
        return
    with tempfile.TemporaryDirectory(prefix="lsmlens-") as folder:
        kept = Path(folder, "standard input")
        with kept.open("wb") as file:
            copyfileobj(sys.stdin.buffer, file)
        yield [str(kept) if path == STANDARD_INPUT else path for path in paths]


def read_material(
    paths: Sequence[str], analysis: "Analysis | None", on_progress: Callable[[str, int], None] | None = None
) -> QosMaterial:
    """What everything under `paths` holds on scheduling.

    `analysis` is what their logs came to, None where there are none. Raises InputError for a path that does not exist,
    and where nothing says anything about an OSD.
    """
    current = ""

    def on_bytes(count: int) -> None:
        if on_progress is not None:
            on_progress(current, count)

    reader = _Reader()
    for member in open_bundle(paths, on_bytes):
        current = member.path
        reader.read(member)
    runs = [one for one in analysis.runs if is_osd(one.run)] if analysis is not None else []
    collection = reader.collection
    osds = osds_of(collection, runs)
    if not osds:
        shown = paths[0] if len(paths) == 1 else f"{len(paths)} paths"
        hint = "give an OSD's log, its config show, perf dump or dump_op_pq_state, or a bundle that holds them"
        raise InputError(shown, "nothing in it is of an OSD", hint)
    source, groups = _placement(collection.of(QosDocument.PG_DUMP))
    dump = next(iter(collection.of(QosDocument.CONFIG_DUMP)), None)
    conf = next(iter(collection.of(QosDocument.CEPH_CONF)), None)
    return QosMaterial(
        osds=osds,
        cluster=read_cluster((one.kind, one.path, one.content) for one in collection.documents),
        stored=None if dump is None else read_config_dump(dump.content),
        stored_source="" if dump is None else dump.path,
        ceph_conf=None if conf is None else str(conf.content),
        ceph_conf_source="" if conf is None else conf.path,
        placement_groups=groups,
        placement_source=source,
        statuses=tuple((one.path, one.content) for one in collection.of(QosDocument.STATUS)),
        cluster_lines=tuple(
            line for _, lines in sorted(collection.lines.items()) for line in lines if line.kind in OF_CLUSTER
        ),
        client_results=tuple(_client_results(collection.companions)),
        notes=tuple(collection.notes),
    )


class _Reader:
    """Reads members one after the other into a collection."""

    def __init__(self) -> None:
        self.collection = Collection()
        self._search = LineSearch()

    def read(self, member: Member) -> None:
        """Take from a member what it says on scheduling."""
        self.collection.directories[member.path] = member.directory
        head = member.head()
        unwrap = unwrapping(head)
        if unwrap is None and head.lstrip()[:1] in (b"{", b"[") and self._take_json(member):
            return
        stream = member.stream
        if unwrap is not None:
            if stream is None and member.file is not None:
                with member.file.open("rb", buffering=0) as file:
                    self._take_log(member, UnwrappedStream(DamagedStream(file), unwrap))
                return
            stream = UnwrappedStream(stream, unwrap) if stream is not None else None
            self._take_log(member, stream)
            return
        if not self._take_text(member, head):
            self._take_log(member, stream)

    def _take_json(self, member: Member) -> bool:
        import orjson

        try:
            content = orjson.loads(member.read(DOCUMENT_BYTES))
        except ValueError:
            return False
        role = recognise_json(content)
        kind = recognise(content)
        if role is None:
            return False
        if kind is not None:
            self.collection.documents.append(
                Document(member.path, member.directory, kind, content, _daemon_of(kind, content, member.path))
            )
        else:
            self.collection.companions.append(Companion(member.path, member.directory, role, content))
        return True

    def _take_text(self, member: Member, head: bytes) -> bool:
        kind = recognise_text(head.decode("utf-8", "replace"))
        role = role_of_text(head, member.path)
        if kind is None and role is Role.CEPH_CONF:
            kind = QosDocument.CEPH_CONF
        if kind is not None:
            text = member.read(DOCUMENT_BYTES).decode("utf-8", "replace")
            self.collection.documents.append(Document(member.path, member.directory, kind, text))
        elif role in _LOADS:
            text = member.read(DOCUMENT_BYTES).decode("utf-8", "replace")
            self.collection.companions.append(Companion(member.path, member.directory, role, text))
        return kind is not None or not (role.is_log or role is Role.CLUSTER_LOG)

    def _take_log(self, member: Member, stream: DamagedStream | None) -> None:
        lines: list[QosLine] = []
        if stream is not None:
            lines = self._search.lines(StreamedBlocks(stream), member.path)
        elif member.file is not None:
            try:
                lines = self._search.lines(MappedBlocks(member.file), member.path)
            except OSError as error:
                self.collection.notes.append(f"{member.path}: {error.strerror or error}")
        if lines:
            self.collection.lines[member.path] = lines


def _daemon_of(kind: QosDocument, content: object, path: str) -> str | None:
    """The daemon a document is of: by what it says, else by its file's name."""
    if isinstance(content, Mapping):
        name = content.get("name")
        if kind is QosDocument.CONFIG_SHOW and isinstance(name, str) and name.startswith("osd."):
            return name
        number = content.get("id")
        if kind is QosDocument.OSD_METADATA and isinstance(number, int | str):
            return f"osd.{number}"
    return daemon_of_name(path)


def _placement(dumps: Sequence[Document]) -> tuple[str, tuple[PlacementGroup, ...] | None]:
    """The dump with the most groups that recover, and its groups."""
    read = [(dump.path, groups) for dump in dumps if (groups := read_pg_dump(dump.content)) is not None]
    return max(read, key=lambda one: sum(group.recovers for group in one[1]), default=("", None))


def _client_results(companions: Sequence[Companion]) -> "Iterator[ClientResult]":
    from lsmlens.analyzer.clients.client_results import read_fio
    from lsmlens.analyzer.clients.rados_bench import read_rados_bench, read_rados_bench_json

    for one in companions:
        if one.role is Role.FIO_RESULT:
            yield from read_fio(one.content, one.path).results
        elif one.role is Role.RADOS_BENCH_RESULT and isinstance(one.content, str):
            yield from read_rados_bench(one.content, one.path).results
        elif one.role is Role.RADOS_BENCH_RESULT:
            yield from read_rados_bench_json(one.content, one.path).results
