"""What is to be added, before anything is parsed: every member with its fingerprint and daemon, and a task a daemon.

A piece of a log is known by its content, whatever rotation calls it and however it is compressed.
"""

import zlib
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field

import orjson
from lsmlens.analyzer.bundles.members import Member, files_at, open_bundle
from lsmlens.analyzer.bundles.roles import Role, daemon_in, daemon_of_name, recognise_json, recognise_text
from lsmlens.analyzer.bundles.transports import layers

CHUNK_BYTES = 1 << 20
DOCUMENT_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Metadata:
    """What `ceph osd metadata` says of a daemon; `directory` is empty where one document tells of many."""

    daemon: str
    directory: str
    host: str | None
    device_class: str | None


@dataclass(frozen=True, slots=True)
class Entry:
    """A member: the file on disk it is in, its own path and folder, what it is by its content, and whose."""

    file: str
    path: str
    directory: str
    fingerprint: str
    is_log: bool
    daemon: str | None
    metadata: tuple[Metadata, ...] = ()


@dataclass(slots=True)
class Task:
    """The members of one daemon, which are read together."""

    daemon: str
    entries: list[Entry] = field(default_factory=list)
    metadata: Metadata | None = None

    @property
    def files(self) -> list[str]:
        """The files on disk they are in, each once."""
        return list(dict.fromkeys(entry.file for entry in self.entries))


def files_under(paths: Iterable[str]) -> list[str]:
    """The files at or under some paths, in a stable order. Raises InputError for one that does not exist."""
    return list(dict.fromkeys(str(file) for path in paths for file in files_at(path)))


def entries_of(file: str) -> list[Entry]:
    """Every member of one file on disk, read through once. What cannot be read to its end has a content as well."""
    return [_entry(file, member) for member in open_bundle([file])]


def _entry(file: str, member: Member) -> Entry:
    head = member.head()
    *_, lines = layers(head)
    document = _document(member) if lines is head and head.lstrip()[:1] in (b"{", b"[") else None
    role = recognise_json(document) if document is not None else None
    role = role or recognise_text(lines, member.path)
    metadata = tuple(_metadata(document, member.directory)) if role is Role.OSD_METADATA else ()
    daemon = daemon_of_name(member.path)
    if daemon is None and role.is_log:
        daemon = daemon_in(lines, role)
    return Entry(file, member.path, member.directory, _fingerprint(head, member), role.is_log, daemon, metadata)


def _document(member: Member) -> object:
    """A member that is one JSON document; None for a piece of a log, which may begin with a bracket as well."""
    try:
        return orjson.loads(member.read(DOCUMENT_BYTES))
    except ValueError:
        return None


def _fingerprint(head: bytes, member: Member) -> str:
    """Length and checksum of all of it, with a checksum of its beginning: a mark of sameness, not a proof."""
    size = checksum = 0
    for chunk in _chunks(member):
        size += len(chunk)
        checksum = zlib.crc32(chunk, checksum)
    return f"{size:x}-{checksum:08x}{zlib.crc32(head[:4096]):08x}"


def _chunks(member: Member) -> Iterator[bytes]:
    if member.stream is not None:
        while chunk := member.stream.take(CHUNK_BYTES):
            yield chunk
    elif member.file is not None and member.unreadable is None:
        try:
            with member.file.open("rb", buffering=0) as file:
                while chunk := file.read(CHUNK_BYTES):
                    yield chunk
        except OSError as error:
            member.unreadable = error.strerror or str(error)


def _metadata(document: object, directory: str) -> Iterator[Metadata]:
    for row in document if isinstance(document, list) else [document]:
        if isinstance(row, dict) and "id" in row:
            host, device_class = row.get("hostname"), row.get("default_device_class")
            yield Metadata(
                f"osd.{row['id']}",
                "" if isinstance(document, list) else directory,
                host if isinstance(host, str) else None,
                device_class if isinstance(device_class, str) else None,
            )


def tasks_of(entries: Iterable[Entry]) -> list[Task]:
    """One task a daemon, wherever its members stand; a log that names no daemon is called after its folder.

    What else names no daemon belongs to the only one whose log stands in the same folder; a ceph.conf to all of them.
    """
    folders: dict[str, list[Entry]] = {}
    metadata: dict[tuple[str, str], Metadata] = {}
    for entry in entries:
        folders.setdefault(entry.directory, []).append(entry)
        metadata.update({(one.directory, one.daemon): one for one in entry.metadata})
    tasks: dict[str, Task] = {}
    for directory, inside in folders.items():
        named = {entry.daemon for entry in inside if entry.daemon is not None and entry.is_log}
        if any(entry.is_log and entry.daemon is None for entry in inside) and not named:
            named = {_folder_name(directory)}
        shared = [entry for entry in inside if entry.daemon is None]
        owners = {daemon for daemon in named if not daemon.startswith("mon.")} or named
        for daemon in sorted(named):
            task = tasks.setdefault(daemon, Task(daemon))
            task.entries += [entry for entry in inside if entry.daemon == daemon]
            task.entries += shared if owners == {daemon} else [one for one in shared if one.path.endswith(".conf")]
            task.metadata = task.metadata or metadata.get((directory, daemon)) or metadata.get(("", daemon))
    return list(tasks.values())


def _folder_name(directory: str) -> str:
    parts = [part for part in directory.replace("!", "/").split("/") if part not in ("", ".", "..")]
    return parts[-1] if parts else "database"


def unknown_of(task: Task, contents: Container[str]) -> bool:
    """Whether a task has a log whose content was not added yet."""
    return any(entry.is_log and entry.fingerprint not in contents for entry in task.entries)
