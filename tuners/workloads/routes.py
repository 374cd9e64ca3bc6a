"""Which column family of a database each of a workload's families is written to."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lsmlens.tuners.workloads.document import ColumnFamily, shard_names

DEFAULT = "default"
_SHARD = re.compile(r"(?P<name>.+)-\d+")


@dataclass(frozen=True, slots=True)
class Route:
    """The ids of the column families among which a family's keys are divided, and what is put in front of them."""

    families: tuple[int, ...]
    prefix: bytes = b""


def routes(
    families: Sequence[ColumnFamily], sharding: Mapping[str, int] | None = None
) -> tuple[tuple[str, ...], tuple[Route, ...]]:
    """The database's column families, "default" first, and the route of each of the workload's.

    Without `sharding` they are those of the workload. `sharding` names other ones, such as {"O": 3, "P": 1}, with the
    number of shards of each: a family `O-1` or `O` then goes to O-0, O-1 and O-2 by its keys, but stays where it is if
    there are as many shards of its name in the workload. A family that `sharding` does not name goes to "default", its
    name and a zero byte in front of every key, as BlueStore does.
    """
    ids = {DEFAULT: 0}
    declared = {one.name: one.shard_names for one in families}
    all_declared = {name for names in declared.values() for name in names}
    if sharding is not None:
        for base, shards in sharding.items():
            for name in shard_names(base, shards):
                ids.setdefault(name, len(ids))
    found: list[Route] = []
    for one in families:
        names = declared[one.name]
        prefix = b""
        if sharding is not None and one.name != DEFAULT:
            match = _SHARD.fullmatch(one.name)
            base = match["name"] if match and one.name not in sharding else one.name
            wanted = shard_names(base, sharding[base]) if base in sharding else (DEFAULT,)
            siblings = {name for name in all_declared if name == base or name.startswith(base + "-")}
            if base not in sharding:
                prefix = base.encode() + b"\0"
            if siblings != set(wanted):
                names = wanted
        for name in names:
            ids.setdefault(name, len(ids))
        found.append(Route(tuple(ids[name] for name in names), prefix))
    return tuple(ids), tuple(found)
