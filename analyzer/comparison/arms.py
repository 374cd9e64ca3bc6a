"""Arms of a comparison as they are asked for, `[NAME=]PATH[,PATH…]`, and as they were read."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsmlens.analyzer.bundles.members import open_bundle
from lsmlens.analyzer.comparison.observations import Observation
from lsmlens.analyzer.errors import InputError, LsmlensError
from lsmlens.analyzer.printable import printable

LARGEST_DOCUMENT = 1 << 28
HINT = "use [NAME=]PATH[,PATH…], such as stock=run1,run2 tuned=run3,run4"


@dataclass(frozen=True, slots=True)
class ArmRequest:
    """One arm as asked for; `name` is None where none was given."""

    name: str | None
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm: its name, and an observation for each of its paths."""

    name: str
    observations: tuple[Observation, ...]

    @property
    def versions(self) -> str:
        """Of Ceph and RocksDB, in words; empty where nothing tells."""
        return "; ".join(dict.fromkeys(one.versions for one in self.observations if one.versions))


def parse_arm(text: str) -> ArmRequest:
    """What an argument asks for. A path that exists is taken whole, whatever signs are in it.

    Raises LsmlensError for an empty name or path.
    """
    if _exists(text):
        return ArmRequest(None, (text,))
    name, equals, rest = text.partition("=")
    if not equals or "/" in name:
        name, rest = "", text
    elif not name.strip():
        raise LsmlensError(f"{text}: an arm without a name", HINT)
    paths = (rest,) if _exists(rest) else tuple(rest.split(","))
    if not all(paths):
        raise LsmlensError(f"{text}: an arm without a path", HINT)
    return ArmRequest(name.strip() or None, paths)


def read_arms(requests: Sequence[ArmRequest], on_progress: Callable[[str, int], None] | None = None) -> tuple[Arm, ...]:
    """Read the arms in their order; a table with several columns is as many arms.

    Raises InputError for what cannot be read, LsmlensError where fewer than two arms come of it or two have one name.
    """
    arms: list[Arm] = []
    for request, default in zip(requests, _default_names(requests), strict=True):
        read = [_read(path, on_progress) for path in request.paths]
        columns = [name for one in read for name, _ in one if name is not None]
        if len(read) == 1 and len(columns) > 1:
            arms += [
                Arm(f"{request.name} {name}" if request.name else str(name), (observation,))
                for name, observation in read[0]
            ]
            continue
        crowded = next((path for path, one in zip(request.paths, read, strict=True) if len(one) > 1), None)
        if crowded is not None:
            raise InputError(
                crowded, "a table with several columns is several arms", "give it as an argument of its own"
            )
        own_name = columns[0] if len(read) == 1 and columns else default
        arms.append(Arm(request.name or own_name, tuple(observation for one in read for _, observation in one)))
    _check(arms)
    return tuple(arms)


def with_baseline(arms: Sequence[Arm], name: str) -> tuple[Arm, ...]:
    """The arms with the named one first. Raises LsmlensError where there is none of that name."""
    chosen = [arm for arm in arms if arm.name == name]
    if not chosen:
        raise LsmlensError(f"--baseline: no arm {name}", f"there are {', '.join(arm.name for arm in arms)}")
    return (*chosen, *(arm for arm in arms if arm.name != name))


def _check(arms: Sequence[Arm]) -> None:
    if len(arms) < 2:
        raise LsmlensError("there is one arm only", "give two or more; the first is what the others are compared with")
    names = [arm.name for arm in arms]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise LsmlensError(f"two arms are called {twice}", "name them: NAME=PATH")


def _read(path: str, on_progress: Callable[[str, int], None] | None) -> list[tuple[str | None, Observation]]:
    """A path's observation, or those of a table's columns, with their names."""
    from lsmlens.analyzer.comparison.table_observations import is_table, observe_table

    content = _small_file(path)
    text = content.decode("utf-8", "replace")
    document = _document(path, content) if text.lstrip()[:1] == "{" else None
    if document is not None:
        from lsmlens.analyzer.comparison.saved_observations import observe_document

        return [(None, observe_document(path, document))]
    if text and is_table(text):
        return list(observe_table(path, text))
    from lsmlens.analyzer.comparison.observations import observe_bundle

    return [(None, observe_bundle(path, on_progress))]


def _small_file(path: str) -> bytes:
    """What a file holds that may be a saved analysis or a table, decompressed if need be; else nothing."""
    try:
        if not Path(path).is_file():
            return b""
    except (OSError, ValueError):
        return b""
    with closing(open_bundle([path])) as members:
        member = next(members, None)
        if member is None or member.path != printable(path):  # an archive
            return b""
        content = member.read(LARGEST_DOCUMENT + 1) if _may_be_small(member.head()) else b""
    return content if len(content) <= LARGEST_DOCUMENT else b""


def _may_be_small(head: bytes) -> bool:
    """Whether a file begins like JSON or like a table; logs, which may be long, do neither."""
    from lsmlens.analyzer.comparison.table_observations import is_table

    return head.lstrip()[:1] == b"{" or is_table(head.decode("utf-8", "replace"))


def _document(path: str, content: bytes) -> dict[str, Any] | None:
    """The saved analysis that JSON text holds; None for another document."""
    import orjson
    from lsmlens.analyzer.analysis_document import SCHEMA

    try:
        document = orjson.loads(content)
    except ValueError:
        return None
    if not isinstance(document, dict) or not str(document.get("schema", "")).startswith("lsmlens."):
        return None
    if document["schema"] != SCHEMA:
        reason = f"a document of schema {document['schema']}, not {SCHEMA}"
        raise InputError(path, reason, "give what `lsmlens analyze` saved")
    return document


def _exists(path: str) -> bool:
    try:
        return path == "-" or Path(path).exists()
    except (OSError, ValueError):
        return False


def _default_names(requests: Sequence[ArmRequest]) -> list[str]:
    """Names from paths: the last part, with as many parts before it as tell them apart."""
    parts = [[part for part in request.paths[0].split("/") if part not in ("", ".")] for request in requests]
    names = [one[-1] if one else request.paths[0] for one, request in zip(parts, requests, strict=True)]
    for depth in range(2, 1 + max(map(len, parts), default=0)):
        clashing = [place for place, name in enumerate(names) if names.count(name) > 1]
        if not clashing:
            break
        for place in clashing:
            names[place] = "/".join(parts[place][-depth:])
    return names
