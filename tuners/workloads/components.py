"""What the components of a column family can be; each writes keys of its own."""

from typing import Annotated, Literal, TypeAlias

import msgspec
from lsmlens.tuners.workloads.sizes import Size
from msgspec import Meta

MOST_KEYS = 1 << 42
MOST_SECONDS = 1e10
MOST_GROUPS = 65535
MOST_CLUSTERED_KEYS = 1 << 31  # each takes a byte of memory, divided by the scale

Seconds: TypeAlias = Annotated[
    float, Meta(ge=0, le=MOST_SECONDS, description="seconds on the workload's clock, which starts at 0")
]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=MOST_KEYS)]
AtLeastOne: TypeAlias = Annotated[int, Meta(ge=1, le=MOST_KEYS)]
PutsPerSecond: TypeAlias = Annotated[float, Meta(ge=0, le=1e9)]
Ratio: TypeAlias = Annotated[float, Meta(ge=0, le=1000)]


class RateStep(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """[start, puts per second]: this rate holds from `start` to the next step's start."""

    start: Seconds
    puts_per_second: PutsPerSecond


Rate: TypeAlias = (
    Annotated[float, Meta(ge=0, le=1e9, description="puts per second, over the whole workload")]
    | Annotated[tuple[RateStep, ...], Meta(min_length=1)]
)


class Row(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """[start, end, puts, deletes]: so many of each between `start` and `end`."""

    start: Seconds
    end: Seconds
    puts: Count
    deletes: Count = 0

    def __post_init__(self) -> None:
        if self.end < self.start:
            raise ValueError(f"this row ends at {self.end} s, before it starts at {self.start} s")


class OverwriteRow(Row, frozen=True, array_like=True, forbid_unknown_fields=True):
    """[start, end, puts, deletes, working set]: the working set is the place in `working_sets`, from 0."""

    working_set: Count = 0


class GrowthRow(Row, frozen=True, array_like=True, forbid_unknown_fields=True):
    """[start, end, puts, deletes, range deletes]."""

    range_deletes: Count = 0


Order: TypeAlias = Literal["sequential", "scattered", "grouped"]


class Keys(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What keys look like: `front` bytes that all share, 8 bytes that tell them apart, and filling up to `length`.

    `order` says where new keys sort: `sequential` in the order in which they came to be, `scattered` anywhere,
    `grouped` in one of `groups` places, each sequential, by turns (as the logs of placement groups), of which the first
    is number `first_group`: keys of one component can so lie apart from another's. Keys of different
    components, and of different working sets, lie in ranges of their own, in grouped order within each group; scattered
    ones lie among each other.
    A key of under 8 bytes holds only the last of the 8, so different keys may then coincide.
    """

    length: Size
    front: Annotated[int, Meta(ge=0, le=1 << 16)] = 0
    order: Order = "sequential"
    groups: Annotated[int, Meta(ge=1, le=65535)] = 1
    first_group: Annotated[int, Meta(ge=0, le=65535)] = 0

    def __post_init__(self) -> None:
        if (self.groups > 1 or self.first_group) and self.order != "grouped":
            raise ValueError(f"`groups` has no meaning with order `{self.order}`")
        if self.first_group + self.groups > MOST_GROUPS:
            raise ValueError(f"there are at most {MOST_GROUPS} groups")


class _Component(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """What all components have.

    `keys` and `values` stand for the family's where this component's differ. `spread` says where the operations of a
    row lie in its time: evenly, or each at random within its even share. `preload` keys are there before the clock
    starts. `ridge` is read for the sake of older documents, and changes nothing.
    """

    keys: Keys | None = None
    values: Size | None = None
    rate: Rate | None = None
    spread: Literal["even", "random"] = "even"
    preload: Count = 0
    ridge: tuple[dict[str, float], ...] = ()


def check_rate(rate: object, other: object, name: str) -> None:
    """Raises ValueError unless there is either a rate, whose steps rise, or the other field of that name."""
    if (rate is None) == (other is None):
        raise ValueError(f"needs either `rate` or `{name}`" + ("" if rate is None else ", not both"))
    if isinstance(rate, tuple):
        starts = [step.start for step in rate]
        if starts != sorted(set(starts)):
            raise ValueError("the starts of `rate` do not rise")


def _check_amount(rate: object, schedule: object, rows: tuple[Row, ...]) -> None:
    check_rate(rate, schedule, "schedule")
    for place in range(1, len(rows)):
        if rows[place].start < rows[place - 1].end:
            raise ValueError(
                f"`schedule[{place}]` starts at {rows[place].start} s, before the row above ends"
                f" at {rows[place - 1].end} s"
            )


class Queue(_Component, frozen=True, tag="queue", tag_field="kind"):
    """Fresh keys, each put once and deleted in the order of the puts, `trim` at a time.

    Under `rate`, a key is deleted after about `lifetime_puts` further puts: the oldest `trim` go when `trim` more than
    that are live (with grouped keys: in their group, whose share of the lifetime is equal). Under `schedule`, the rows
    say how many are deleted. A delete that finds no key left deletes one of before the workload's start.
    """

    schedule: tuple[Row, ...] | None = None
    lifetime_puts: Count | None = None
    trim: AtLeastOne = 1
    single_delete: bool = False

    def __post_init__(self) -> None:
        _check_amount(self.rate, self.schedule, self.schedule or ())
        if self.rate is not None and self.lifetime_puts is None:
            raise ValueError("a queue with a `rate` needs `lifetime_puts`")


class WorkingSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """`keys` keys, the i-th most popular written with a chance in proportion to i^-zipf; 0 is uniform.

    If it is `filled_first`, its first puts write each key once, in order, before any is chosen by chance: a load phase.
    """

    keys: AtLeastOne
    zipf: Annotated[float, Meta(ge=0, le=5)] = 0.0
    filled_first: bool = False


class _OfWorkingSets(_Component, frozen=True):
    working_sets: Annotated[tuple[WorkingSet, ...], Meta(min_length=1, max_length=1 << 12)]
    nested: bool = False
    deletes_per_put: Ratio = 0.0
    schedule: tuple[OverwriteRow, ...] | None = None

    def __post_init__(self) -> None:
        _check_amount(self.rate, self.schedule, self.schedule or ())
        _check_working_sets(self.schedule or (), len(self.working_sets))


class Overwrite(_OfWorkingSets, frozen=True, tag="overwrite", tag_field="kind"):
    """Keys of a fixed population put over and over; deletes choose keys as puts do, whether live or not.

    Under `rate`, all puts go to the first working set; under `schedule`, a row may name another. Where sets are
    `nested`, they are of one population, which grows and shrinks: each is the first keys of any larger one.
    """


class Merges(_OfWorkingSets, frozen=True, tag="merges", tag_field="kind"):
    """As `overwrite`, with merge operands for puts."""


def _check_working_sets(rows: tuple[OverwriteRow, ...], sets: int) -> None:
    for place, row in enumerate(rows):
        if row.working_set >= sets:
            raise ValueError(f"`schedule[{place}]` names working set {row.working_set}; there are {sets}, from 0")


DeleteOrder: TypeAlias = Literal["oldest", "random", "aged"]


class Growth(_Component, frozen=True, tag="growth", tag_field="kind"):
    """Fresh keys that stay until deleted; deletes take live ones, the `oldest` or at `random`, or `aged` ones.

    With `aged`, as many keys as there are deletes are marked by chance when they are put; each comes of age after
    between one and two `delete_age` further puts, and deletes take them as they do. All other keys last.
    `repeated_deletes` is the share of the deletes that take any key that was deleted before. A range delete takes the
    oldest `range_width` keys at once; it needs sequential keys, and deletes of the oldest.
    """

    deletes_per_put: Ratio = 0.0
    delete_order: DeleteOrder = "oldest"
    delete_age: Count = 0
    repeated_deletes: Annotated[float, Meta(ge=0, le=1)] = 0.0
    range_deletes_per_put: Ratio = 0.0
    range_width: Count = 0
    schedule: tuple[GrowthRow, ...] | None = None

    def __post_init__(self) -> None:
        _check_amount(self.rate, self.schedule, self.schedule or ())
        if (self.delete_order == "aged") != bool(self.delete_age):
            raise ValueError("`delete_age` and `delete_order: aged` need each other")
        if self.range_deletes_per_put or any(row.range_deletes for row in self.schedule or ()):
            if not self.range_width:
                raise ValueError("range deletes need a `range_width`")
            if self.delete_order != "oldest":
                raise ValueError("range deletes need `delete_order: oldest`")
            if self.repeated_deletes:
                raise ValueError("there are no `repeated_deletes` beside range deletes")
            if self.keys is not None and self.keys.order != "sequential":
                raise ValueError("range deletes need keys in sequential order")


class Clustered(_Component, frozen=True, tag="clustered", tag_field="kind"):
    """Objects with `keys_per_object` possible keys each; a batch puts `batch` of them, all in one object.

    Of the deletes, `removals_per_put` come in such batches too, live keys or not. The others clear whole objects: each
    clear deletes every live key of an object. There are `clears_per_put` clears, by chance; or, where a schedule's rows
    have deletes, each row has as large a share of the clears as of these. Under a `schedule` without `clears_per_put`
    there are as many clears as use up a row's other deletes, what is left over or overdrawn going to the next row.
    Objects are chosen as evenly, or by Zipf's law, as `zipf` says.
    """

    objects: AtLeastOne
    keys_per_object: AtLeastOne
    batch: AtLeastOne = 1
    removals_per_put: Ratio = 0.0
    clears_per_put: Ratio = 0.0
    zipf: Annotated[float, Meta(ge=0, le=5)] = 0.0
    schedule: tuple[Row, ...] | None = None

    def __post_init__(self) -> None:
        _check_amount(self.rate, self.schedule, self.schedule or ())
        if self.objects * self.keys_per_object > MOST_CLUSTERED_KEYS:
            raise ValueError("`objects` times `keys_per_object` is over 2^31")


Component: TypeAlias = Queue | Overwrite | Merges | Growth | Clustered
