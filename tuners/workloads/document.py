"""The workload document, `lsmlens.workload/1`: what a database is given to write, as YAML.

A workload has column families; a family has components, each a process of its own with keys of its own: a `queue`,
`overwrite`, `merges`, `growth` or `clustered`. How much a component writes is said by `rate`, or by `schedule`: rows of
counts over time, as a fit of a log gives them, one for each flush. Both count puts; merges count as puts.
"""

from typing import Annotated, Final, Literal

import msgspec
from lsmlens.tuners.workloads.components import MOST_KEYS, MOST_SECONDS, Component, Growth, Keys
from lsmlens.tuners.workloads.reads import FamilyReads
from lsmlens.tuners.workloads.sizes import Size
from msgspec import Meta

SCHEMA: Final = "lsmlens.workload/1"
MOST_IN_BATCH: Final = 1 << 20


class Units(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The units of every number of the document; there are no others."""

    time: Literal["seconds"] = "seconds"
    size: Literal["bytes"] = "bytes"
    rate: Literal["puts/second"] = "puts/second"
    lifetime: Literal["puts"] = "puts"


class Origin(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where the workload comes from.

    `source` names the log, trace or text. `defaults` says what the source could not tell, and what was taken;
    `notes` what else a reader should know. `started_at` is when the clock was 0, ISO 8601 in UTC.
    """

    kind: Literal["preset", "declared", "fitted", "traced"]
    source: str = ""
    started_at: str = ""
    ceph_version: str = ""
    rocksdb_version: str = ""
    defaults: dict[str, str] = {}
    notes: tuple[str, ...] = ()


class Transactions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How operations make write batches: in order of time, about `operations` in each, divided by a replay's scale.

    Operations of one moment stay in one batch. `families`: those of all families `together`, or batches `apart`.
    """

    operations: Annotated[int, Meta(ge=1, le=MOST_IN_BATCH)] = 100
    families: Literal["together", "apart"] = "together"


def shard_names(name: str, shards: int) -> tuple[str, ...]:
    """Names of the column families of so many shards, as Ceph gives them: NAME itself if there is but one."""
    return (name,) if shards == 1 else tuple(f"{name}-{number}" for number in range(shards))


class ColumnFamily(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One column family, or `shards` of them named NAME-0, NAME-1 and so on, its keys divided among them.

    `compression_ratio` is the share of their size to which values compress; 1 does not compress. `reads` are made as
    long as anything is written; without, nothing is known of reads, and none are made.
    """

    name: Annotated[str, Meta(min_length=1)]
    keys: Keys
    values: Size
    components: Annotated[tuple[Component, ...], Meta(min_length=1, max_length=255)]
    compression_ratio: Annotated[float, Meta(gt=0, le=1)] = 1.0
    shards: Annotated[int, Meta(ge=1, le=1024)] = 1
    reads: FamilyReads | None = None

    @property
    def shard_names(self) -> tuple[str, ...]:
        """The names of its column families in a database."""
        return shard_names(self.name, self.shards)

    def __post_init__(self) -> None:
        for place, one in enumerate(self.components):
            keys = one.keys or self.keys
            if isinstance(one, Growth) and one.range_width and (keys.order != "sequential" or self.shards > 1):
                raise ValueError(f"`components[{place}]`: range deletes need keys in sequential order, in one shard")


class Workload(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A workload: `seconds` long by its own clock, starting with its components' `preload` in the database."""

    schema: Literal["lsmlens.workload/1"] = SCHEMA
    name: str
    origin: Origin = Origin(kind="declared")
    units: Units = Units()
    seconds: Annotated[float, Meta(gt=0, le=MOST_SECONDS)]
    transactions: Transactions = Transactions()
    column_families: Annotated[tuple[ColumnFamily, ...], Meta(min_length=1)]

    def __post_init__(self) -> None:
        names: set[str] = set()
        for name in (name for family in self.column_families for name in family.shard_names):
            if name in names:
                raise ValueError(f"there are two column families `{name}`")
            names.add(name)
        for family in self.column_families:
            for place, component in enumerate(family.components):
                rate = component.rate or 0.0
                fastest = max((step.puts_per_second for step in rate), default=0.0) if isinstance(rate, tuple) else rate
                if fastest * self.seconds > MOST_KEYS:
                    raise ValueError(f"`{family.name}`, `components[{place}]`: over 2^42 puts")
                rows = component.schedule or ()
                if rows and rows[-1].end > self.seconds:
                    raise ValueError(
                        f"`{family.name}`, `components[{place}]`: the schedule ends at {rows[-1].end} s,"
                        f" the workload at {self.seconds} s"
                    )
