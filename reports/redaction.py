"""Redaction: names of hosts, paths, clusters, objects, pools, column families and whatever a user named become tokens.

It is done once, to what reports are made of, and not by each of them: so whatever is written says the same, and the
same name is the same token (`host-1`, `address-2`, `path-3/ceph-osd.0.log.gz`) in all outputs of a run. What may be
shown is listed, not what may not: numbers, and the words of lsmlens' own `vocabulary`. Beyond that, names that are such
words themselves (a pool called `images`) are known by the field they stand in, and by their shape. Lines of a log that
were not understood may hold anything, and are withheld.

Families of BlueStore, daemons by number (`osd.3`), versions, options and figures stay.
"""

import copy
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from enum import Enum
from ipaddress import ip_address
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
import numpy as np
import polars as pl
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.bundles.companions import Companion
from lsmlens.analyzer.bundles.roles import Role
from lsmlens.analyzer.comparison.arms import Arm
from lsmlens.analyzer.logs.scan import NotUnderstood
from lsmlens.analyzer.logs.spool import Spool
from lsmlens.analyzer.runs.columns import Rows
from lsmlens.analyzer.runs.jobs import OtherEvent
from lsmlens.analyzer.runs.run import Run
from lsmlens.reports.vocabulary import CHUNK, is_said

T = TypeVar("T")

# Words of file and run names that say what something is, not whose it is.
_PLAIN_WORD = re.compile(
    r"\d+|[a-z]|ceph|osd|mon|mgr|mds|client|logs?|old|gz|zstd?|xz|bz2|tar|tgz|zip|json|txt|out|conf|csv|perf|dump|start"
    r"|end|config|show|diff|historic|slow|ops|fio|rados|bench|radosbench|results?|metadata|sharding|stderr|stdout|debug"
    r"|rocksdb|options|bluefs|bluestore|stats|frag|mempools|omap|cleanup|standard|input|unknown",
    re.IGNORECASE,
)
# Words that are names of something in nearly every report.
_COMMON_WORDS = ("default", "data", "read", "write", "random", "ceph", "osd")
# Columns of BlueStore and of a monitor's database, alone and in shards; and RocksDB's own family.
_PLAIN_FAMILY = re.compile(r"default|[A-Za-z](?:-\d{1,3})?")
_WORD = re.compile(r"[^\W_]+")
_SHAPES = re.compile(
    r"(?P<fsid>(?<![\w-])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![\w-]))"
    # onode #2:59446de1:namespace:key:NAME:head#; any of them may be empty, and is a part of the token
    r"|(?P<object>(?<=:[0-9a-f]{8}:)[^\s:]*:[^\s:]*:\S+?(?=:(?:head|snapdir|[0-9a-f]+)(?![\w-]))"
    r"|(?<![\w.-])(?:rbd_(?:data|header|id|object_map)\.[\w.-]*\w|benchmark_data_[\w.-]*\w))"
    r"|(?P<address>(?<![\w:.])(?=[0-9a-f:.]*[0-9a-f])(?:[0-9a-f]{0,4}:){2,7}(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9a-f]{1,4})?(?![\w:])"
    r"|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w-]|\.\w))"
    r"|(?P<path>(?<![\w.:/<-])(?:~|\.{1,2})?/(?!/|sys/)[\w.+@%~$-]+(?:/[\w.+@%=~:$-]+)*/?)"
    r"|(?P<client>(?<![\w.-])client\.(?:\d+|[a-z][\w.-]*\w))"
    r"|(?<![\w.-])(?P<daemon>mon|mgr|mds|rgw)\.(?P<host>[a-z][\w.-]*\w)",
    re.IGNORECASE,
)
Name = tuple[str, str]
HOST, CLIENT, POOL, OBJECT, FAMILY, JOB, CLUSTER = "host", "client", "pool", "object", "family", "job", "cluster"

_SECTION = re.compile(r"^\s*\[(\w+)\.([^\]]+)\]", re.MULTILINE)
_SETTING = re.compile(r"^\s*([\w ]+?)\s*=\s*(.*?)\s*(?:[;#].*)?$", re.MULTILINE)
# mon_initial_members = a, b; mon_host = [v2:10.0.0.1:3300/0,v1:10.0.0.1:6789/0] node1:6789
_HOST_NAME = re.compile(r"(?<![\w.:-])[A-Za-z][\w-]*(?:\.[\w-]+)*(?=$|[\s,;:\]/])")
# root=default host=node1 rack=r2
_CRUSH = re.compile(r"(?:host|rack|row|room|datacenter|chassis)=([\w.-]+)")
# Object prefix: benchmark_data_node1_1056
_PREFIX = re.compile(r"Object prefix: (benchmark_data_(\S+)_\d+)")
# osd_op(client.4126.0:15352 2.1a 2:59446de1:namespace:key:rbd_data.1015…:head [write …
_HOBJECT = re.compile(r"\s-?\d+:[0-9a-f]{8}:([^:\s]*):([^:\s]*):(\S+?):(?:head|snapdir|[0-9a-f]+)[ )]")
# osd_op(client.4508.0:869 2.797e510b 2598/object_0 [] snapc …          before 11
_OLD_OBJECT = re.compile(r"\s\d+\.[0-9a-f]{2,8} (?:\d+/)?([^\s:\[(]+) \[")
# osd_op(client.4508.0:869 object_0 [write 0~4096] 2.797e510b …         before 10
_FIRST_OBJECT = re.compile(r"osd_op\(\S+ ([^\s:\[(]*[A-Za-z_][^\s:\[(]*) \[")
# Fields and columns that hold names, wherever they are.
_NAMING = {
    "column_family": FAMILY,
    "family": FAMILY,
    "families": FAMILY,
    "column_families": FAMILY,
    "host": HOST,
    "hostname": HOST,
    "cluster": CLUSTER,
    "job": JOB,
}
# Fields that hold paths.
_PLACING = re.compile(r"path|paths|source|\w+_source")
_TOKEN = re.compile(
    r"(?:fsid|address|path|object|client|host|family|job|cluster|pool|run|arm|file|name)-\d+(?:[.:]\d+)*"
)
_DEEPEST = 64
_PLAIN = (int, float, bool, type(None), Enum, date, time, timedelta, np.generic, re.Pattern)


class Redaction:
    """Replaces names by tokens. It learns from all there is before it replaces in any of it; `kept` names stay."""

    def __init__(self, kept: Iterable[str] = ()) -> None:
        self._tokens: dict[tuple[str, str], str] = {}
        self._counts: Counter[str] = Counter()
        self._known: dict[str, str] = {}
        self._kept: set[str] = {*_COMMON_WORDS, *kept}
        self._literals: re.Pattern[str] | None = None
        self._said: dict[str, str] = {}
        self._made: dict[int, tuple[object, object]] = {}

    def redacted(self, value: T) -> T:
        """The value with all its texts redacted, however deep; its own names are learned first.

        What was redacted before comes out as it is. Raises TypeError for what holds no known kind of thing.
        """
        self._learn(value, "", set())
        return cast("T", self._of(value, 0))

    def text(self, text: str) -> str:
        """The text with its names replaced."""
        said = self._said.get(text)
        if said is None:
            said = self._said[text] = self._known.get(text) or self._replaced(text, self._shown)
        return said

    def whole_text(self, text: str) -> str:
        """A log or document without names that are known, or known by their form; all else must stay to be read."""
        return self._replaced(text, lambda rest: rest)

    # -- learning

    def _learn(self, value: Any, name: str, seen: set[int]) -> None:
        """Take in the names in a value that stands in a field of this name."""
        if isinstance(value, str):
            if not isinstance(value, Enum):
                self._learn_text(value, name)
            return
        if isinstance(value, _PLAIN) or id(value) in seen or id(value) in self._made:
            return
        seen.add(id(value))
        if isinstance(value, RunAnalysis):
            self.learn_run(value.run.name)
            for companion in value.run.companions:
                self.learn_names(_names_in_companion(companion))
            for operation in value.beside.operations:
                self.learn_names(_names_in_operation(operation.description))
        elif isinstance(value, pl.DataFrame):
            for column in _texts_of(value):
                if column in _NAMING:
                    for one in value[column].drop_nulls().unique(maintain_order=True):
                        self._learn_text(one, column)
        elif isinstance(value, Rows):
            self._learn(value.frame(), name, seen)
        elif isinstance(value, Mapping):
            for key, item in value.items():
                self._learn(key, name, seen)
                self._learn(item, name if name in _NAMING or not isinstance(key, str) else key, seen)
        elif isinstance(value, list | tuple | set | frozenset | Spool) and not hasattr(value, "_fields"):
            for item in value:
                self._learn(item, name, seen)
        if isinstance(value, Arm):
            self._learn_arm(value)
        for field, item in _fields_of(value).items():
            self._learn(item, field, seen)

    def _learn_text(self, text: str, field: str) -> None:
        kind = _NAMING.get(field)
        if kind == FAMILY:
            if not _PLAIN_FAMILY.fullmatch(text) and not is_said(text):
                self.learn_names([(kind, text)])
        elif kind is not None:
            self.learn_names([(kind, text)])
        elif field in ("daemon", "daemons"):
            self.learn_run(text)
        elif _PLACING.fullmatch(field) and ("/" in text or not is_said(text)) and " " not in text:
            self.learn_path(text)

    def _learn_arm(self, arm: Arm) -> None:
        """Take in an arm's name, which is hidden if it was made of its path."""
        for one in arm.observations:
            if arm.name in one.path and not _is_plain(arm.name):
                self._know(arm.name, self._token("arm", arm.name))
            for name in one.runs:
                self.learn_run(name)

    def learn_path(self, path: str) -> None:
        """Take in where something was read: its folder is hidden, its own name too unless that only says what it is."""
        head, slash, name = path.replace("!", "/").rpartition("/")
        token = self._file(name)
        self._know(path, f"{self._token('path', head)}/{token}" if slash else token)
        if "/" in head:
            self._know(head, self._token("path", head))
        if not name.isalpha():  # a word alone may be any word
            self._know(name, token)

    def learn_run(self, name: str) -> None:
        """Take in a run's name. `osd.3` stays, `mon.a` too; folders before it, longer names of monitors do not."""
        *folders, last = name.split("/")
        daemon, point, of = last.partition(".")
        if daemon in ("mon", "mgr", "mds") and point and len(of) > 1:
            self._know(of, self._token("host", of))
            token = f"{daemon}.{self._token('host', of)}"
        else:
            token = last if _is_plain(last) else self._token("run", last)
        self._know(name, f"{self._token('path', '/'.join(folders))}/{token}" if folders else token)

    def learn_names(self, names: Iterable[tuple[str, str]]) -> None:
        """Take in names with what they are of, such as `pool`."""
        for kind, name in names:
            if len(name) > 1 and not name.isdigit() and not _TOKEN.fullmatch(name):
                self._know(name, self._token(kind, name))

    # -- replacing

    def _of(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return value if isinstance(value, Enum) else self.text(value)
        if isinstance(value, _PLAIN) or callable(value):
            return value
        if depth > _DEEPEST:
            return None
        known = self._made.get(id(value))
        if known is not None:
            return known[1]
        made = self._made_of(value, depth + 1)
        self._made[id(value)] = value, made
        self._made[id(made)] = made, made
        return made

    def _made_of(self, value: Any, depth: int) -> Any:
        if isinstance(value, bytes):
            return self.text(value.decode("latin-1")).encode()
        if isinstance(value, Path):
            return Path(self.text(str(value)))
        if isinstance(value, np.ndarray):
            return value if value.dtype.kind in "biufcmM" else np.array([self._of(one, depth) for one in value])
        if isinstance(value, pl.DataFrame):
            return self._frame(value)
        if isinstance(value, Rows):
            return value.mapped(self._frame)
        if isinstance(value, Run):  # what is not shown need not be looked through
            value = _changed(
                value,
                {"companions": [], "options_text": "", "dumps": Spool(tuple), "other_event_rows": Rows(OtherEvent)},
            )
        elif isinstance(value, NotUnderstood):
            value = _changed(value, {"text": f"({len(value.text)} characters withheld)"})
        if isinstance(value, Mapping):
            pairs = {self._key(key, depth): self._of(item, depth) for key, item in value.items()}
            return Counter(pairs) if isinstance(value, Counter) else pairs
        if isinstance(value, Spool):
            spool: Spool[Any] = Spool(value.kind)
            for record in value:
                spool.append(self._of(record, depth))
            return spool
        if isinstance(value, list | tuple | set | frozenset):
            items = [self._of(item, depth) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        parts = _fields_of(value)
        if not parts:
            raise TypeError(f"cannot be redacted: {type(value)}")
        return _changed(value, {name: self._of(item, depth) for name, item in parts.items()})

    def _key(self, key: Any, depth: int) -> Any:
        """A key as it is known by others: words of ours stay."""
        return key if isinstance(key, str) and key.isidentifier() and is_said(key) else self._of(key, depth)

    def _frame(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(_replaced(frame[column], self.text) for column in _texts_of(frame))

    def _replaced(self, text: str, rest: Callable[[str], str]) -> str:
        """Known names first, then names by their form; a token that replaced one is not looked at again."""
        if self._literals is None:
            names = sorted(self._known, key=lambda name: (-len(name), name))
            alternatives = "|".join(map(re.escape, names)) or "(?!)"
            self._literals = re.compile(rf"(?<![\w.-])({alternatives})(?![\w-])")
        return "".join(
            self._known[part] if place % 2 else "".join(self._by_form(part, rest))
            for place, part in enumerate(self._literals.split(text))
        )

    def _by_form(self, text: str, rest: Callable[[str], str]) -> Iterator[str]:
        end = 0
        for match in _SHAPES.finditer(text):
            yield rest(text[end : match.start()])
            yield rest(match[0]) if match.lastgroup == "address" and not _is_address(match[0]) else self._shaped(match)
            end = match.end()
        yield rest(text[end:])

    def _shown(self, text: str) -> str:
        """The text with only what may be shown."""
        return CHUNK.sub(self._unless_said, text)

    def _unless_said(self, match: re.Match[str]) -> str:
        chunk = match[0]
        is_shown = is_said(chunk) or _is_plain(chunk) or chunk in self._kept
        return chunk if is_shown else self._token("name", chunk)

    def _shaped(self, match: re.Match[str]) -> str:
        kind, found = match.lastgroup or "", match[0]
        if kind == "path":
            return self._token("path", found.rstrip("/"))
        if kind == "host":
            return f"{match['daemon']}.{self._token('host', match['host'])}"
        if kind == "object":
            *before, name = found.split(":")
            return ":".join([*(one and self._token("name", one) for one in before), self._token("object", name)])
        return self._token(kind, found)

    def _file(self, name: str) -> str:
        if _is_plain(name):
            return name
        suffixes = re.search(r"(?:\.(?:log|json|txt|out|tar|tgz|zip|gz|zst|xz|bz2|csv|conf|\d{1,2}))+$", name)
        return self._token("file", name) + (suffixes[0] if suffixes else "")

    def _know(self, name: str, token: str) -> None:
        if name and name != token and name not in self._known and name not in self._kept:
            self._known[name] = token
            self._literals = None
            self._said.clear()

    def _token(self, kind: str, name: str) -> str:
        if _TOKEN.fullmatch(name):
            return name
        token = self._tokens.get((kind, name))
        if token is None:
            self._counts[kind] += 1
            token = self._tokens[kind, name] = f"{kind}-{self._counts[kind]}"
        return token


def redacted(value: T, kept: Iterable[str] = ()) -> T:
    """The value, such as a report, without the names in it but for those that are kept."""
    return Redaction(kept).redacted(value)


def _fields_of(value: Any) -> dict[str, Any]:
    """Names and values of what an object of ours is made of, without what it worked out; nothing of anything else."""
    names: Iterable[str]
    if isinstance(value, msgspec.Struct):
        names = value.__struct_fields__
    elif is_dataclass(value):
        names = (field.name for field in fields(value))
    elif type(value).__module__.startswith("lsmlens."):
        names = getattr(value, "_fields", getattr(value, "__dict__", ()))
    else:
        names = ()
    return {name: getattr(value, name) for name in names}


def _texts_of(frame: pl.DataFrame) -> list[str]:
    """The columns that hold any text; of an Enum only values that were declared can be."""
    return [name for name, dtype in frame.schema.items() if dtype in (pl.String, pl.List(pl.String))]


def _replaced(column: pl.Series, said: Callable[[str], str]) -> pl.Series:
    if column.dtype != pl.String:
        return pl.Series(column.name, [None if some is None else [said(one) for one in some] for some in column])
    texts = column.drop_nulls().unique()
    return column.replace(texts, pl.Series(texts.name, [said(text) for text in texts], pl.String))


def _changed(value: Any, changes: Mapping[str, Any]) -> Any:
    """A copy with other values, also of what cannot be made anew by its constructor; what it worked out is left out."""
    if hasattr(value, "_replace"):
        return value._replace(**changes)
    made = copy.copy(value)
    for name in getattr(made, "__dict__", {}).keys() - _fields_of(value).keys():
        del made.__dict__[name]
    for name, item in changes.items():
        if isinstance(made, msgspec.Struct):
            msgspec.structs.force_setattr(made, name, item)
        else:
            object.__setattr__(made, name, item)
    return made


def _is_plain(name: str) -> bool:
    """Whether a name is made of words that say what it is, numbers and single letters."""
    if _SHAPES.search(name):
        return False
    return all(_PLAIN_WORD.fullmatch(word) for word in _WORD.findall(name))


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _names_in_companion(companion: Companion) -> Iterator[Name]:
    """What a file beside the logs names."""
    content = companion.content
    if companion.role is Role.CONFIG_SHOW and isinstance(content, Mapping):
        yield from _settings({str(name): str(value) for name, value in content.items()})
    elif companion.role is Role.CEPH_CONF:
        text = str(content)
        for kind, name in _SECTION.findall(text):
            if kind in ("client", "mon", "mgr", "mds"):
                yield CLIENT if kind == "client" else HOST, name
        for name, value in _SETTING.findall(text):
            yield from _settings({name.strip().replace(" ", "_"): value})
    elif companion.role is Role.RADOS_BENCH_RESULT:
        for prefix, host in _PREFIX.findall(str(content)):
            yield OBJECT, prefix
            yield HOST, host
    elif companion.role is Role.FIO_RESULT:
        yield from _in_fio(content)


def _names_in_operation(description: str) -> Iterator[Name]:
    """The objects, and their namespaces and keys, that an operation's description names."""
    found = _HOBJECT.search(description)
    if found is not None:
        yield from ((OBJECT, name) for name in found.groups() if name)
        return
    old = _OLD_OBJECT.search(description) or _FIRST_OBJECT.search(description)
    if old is not None:
        yield OBJECT, old[1]


def _settings(settings: Mapping[str, str]) -> Iterator[Name]:
    for name in ("host", "mon_initial_members", "mon_host"):
        for word in _HOST_NAME.findall(settings.get(name, "")):
            if word not in ("v1", "v2", "any"):
                yield HOST, word
    for name in ("crush_location", "osd_crush_location"):
        yield from ((HOST, word) for word in _CRUSH.findall(settings.get(name, "")))


def _in_fio(document: Any) -> Iterator[Name]:
    if not isinstance(document, Mapping):
        return
    jobs = [job for name in ("jobs", "client_stats") for job in _listed(document.get(name))]
    for holder in (document.get("global options"), *(job.get("job options") for job in jobs)):
        if isinstance(holder, Mapping):
            for option, kind in (("pool", POOL), ("rbdname", OBJECT), ("clientname", CLIENT)):
                if isinstance(holder.get(option), str):
                    yield kind, holder[option]
    for job in jobs:
        if isinstance(job.get("hostname"), str):
            yield HOST, job["hostname"]


def _listed(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
