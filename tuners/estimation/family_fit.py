"""One column family, fitted: its part of the workload document, and what was learned from what."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from lsmlens.tuners.estimation.calibration import Calibration
from lsmlens.tuners.estimation.clusters import objects_by_tables
from lsmlens.tuners.estimation.evidence import FamilyEvidence
from lsmlens.tuners.estimation.family_parts import BEST, Dissection, Variation, dissect
from lsmlens.tuners.estimation.fresh_keys import delete_age
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.key_forms import (
    GROUPS,
    IDENTITY_BYTES,
    compression_ratio,
    key_form,
    key_order,
    usual_ratio,
)
from lsmlens.tuners.estimation.parts import Part
from lsmlens.tuners.estimation.record_sizes import RecordSizes, record_sizes
from lsmlens.tuners.estimation.windows import last_bottom
from lsmlens.tuners.workloads.components import (
    Clustered,
    Component,
    DeleteOrder,
    Growth,
    GrowthRow,
    Keys,
    Order,
    Overwrite,
    Queue,
)
from lsmlens.tuners.workloads.document import ColumnFamily
from lsmlens.tuners.workloads.sizes import mean_bytes

# A part's sizes stand by themselves where they differ from the family's by more than this share.
SAME_SIZE = 0.02
LEAST_VALUE = 1.0


@dataclass(frozen=True, slots=True)
class FamilyFit:
    """A family's part of the document. `seen` says in words how it was taken apart; `misfit` how badly.

    `misfit` is the relative error of the survivors at the windows, root mean square. `parts` are what the family was
    taken apart into at first; where a `calibration` has come in their place, the document has its component. Where it
    `is_settled` how the parts lie, there is no other structure to be tried.
    """

    column_family: ColumnFamily
    evidence: FamilyEvidence
    parts: tuple[Part, ...]
    sizes: RecordSizes
    seen: tuple[str, ...]
    misfit: float
    variation: Variation = BEST
    calibration: Calibration | None = None
    is_settled: bool = False


def fit_family(evidence: FamilyEvidence, since: float, variation: Variation = BEST) -> FamilyFit:
    """The fit of a family with operations; times in the document count from `since`, seconds since 1970."""
    intervals = list(evidence.intervals)
    found: Dissection = dissect(
        intervals,
        list(evidence.windows),
        preexisting=evidence.preexisting,
        objects=objects_by_tables(evidence.history),
        variation=variation,
    )
    parts = [part for part in found.parts if part.operations]
    if variation.deletes is not None:
        parts = [_deleted(part, variation.deletes, evidence) for part in parts]
    if variation.first is not None:
        parts.sort(key=lambda part: part.is_fresh != (variation.first == "fresh"))
    is_queue = any(isinstance(part.component, Queue) for part in parts)
    order: Order = variation.order or key_order(evidence.history, is_queue)
    if any(part.is_clustered for part in parts):
        order = "sequential"
    groups = variation.groups or GROUPS
    seen = tuple(found.seen)
    return fit_parts(evidence, since, parts, order, groups, seen=seen, misfit=found.misfit, variation=variation)


def fit_parts(
    evidence: FamilyEvidence,
    since: float,
    parts: Sequence[Part],
    order: Order,
    groups: int,
    *,
    seen: tuple[str, ...],
    misfit: float,
    variation: Variation = BEST,
) -> FamilyFit:
    """The fit of a family that was taken apart into these parts, with keys in this order."""
    intervals = evidence.intervals
    sizes = record_sizes(evidence.history, intervals, parts)
    keys = key_form(round(sizes.key), order, evidence.tables, groups)
    values = _value(sizes.value, sizes.key, round(sizes.key))
    components = [
        _component(part, intervals, since, (keys, values), (float(key), float(value)))
        for part, key, value in zip(parts, sizes.keys, sizes.values, strict=True)
    ]
    if evidence.preexisting:
        bottom = last_bottom(evidence.windows)
        lost = bottom.lost if bottom is not None else 0.0
        components = preloads(components, parts, evidence.preexisting * variation.before, lost * variation.before)
    name, ratio = evidence.history.name, compression_ratio(evidence.tables)
    family = ColumnFamily(
        name=name,
        keys=keys,
        values=values,
        components=tuple(components),
        compression_ratio=usual_ratio(name) if ratio is None else round(ratio, 3),
    )
    return FamilyFit(family, evidence, tuple(parts), sizes, seen, misfit, variation)


def _deleted(part: Part, order: DeleteOrder, evidence: FamilyEvidence) -> Part:
    """The part with fresh keys deleted in this order, if they are deleted and the log tells at which age."""
    if not isinstance(part.component, Growth):
        return part
    if order != "aged":
        return part.with_(delete_order=order)
    age = delete_age(part, evidence.preexisting)
    return part.with_(delete_order=order, delete_age=age) if age else part


def _component(
    part: Part, intervals: Sequence[Interval], since: float, shared: tuple[Keys, float], own: tuple[float, float]
) -> Component:
    """The part's component, with sizes of its own where they are not the family's."""
    component = part.with_rows(intervals, since)
    keys, value = shared
    key_bytes, value_bytes = own
    changes: dict[str, object] = {}
    # keys of all components are told apart at the same place, or they would not sort as components do
    length = max(1, round(key_bytes), min(keys.front + IDENTITY_BYTES, math.floor(mean_bytes(keys.length))))
    if part.place and keys.order == "grouped":
        changes["keys"] = keys = msgspec.structs.replace(keys, first_group=part.place * keys.groups)
    if length != keys.length:
        changes["keys"] = msgspec.structs.replace(keys, length=float(length))
    wanted = _value(value_bytes, key_bytes, length)
    if part.puts.sum() and abs(wanted - value) > SAME_SIZE * max(value, LEAST_VALUE):
        changes["values"] = wanted
    return msgspec.structs.replace(component, **changes) if changes else component


def _value(value: float, key: float, length: int) -> float:
    """Value bytes that make up for the key's being of another length."""
    return round(max(0.0, value + key - length), 2)


def preloads(
    components: Sequence[Component], parts: Sequence[Part], records: float, lost: float = 0.0
) -> list[Component]:
    """The components with `records` of before among them: populations are full, what is left had grown.

    Of these records `lost` are known to have been overwritten or deleted, in a queue before any of the log's own.
    """
    found: list[Component] = []
    left = records
    for component, part in zip(components, parts, strict=True):
        wanted = 0.0
        if isinstance(component, Overwrite):
            wanted = component.working_sets[0].keys
        elif isinstance(component, Clustered):
            wanted = part.live
        elif isinstance(component, Queue):
            deletes = float(part.deletes.sum())
            wanted = max(0.0, deletes - float(part.puts.sum()), min(deletes, lost))
        preload = round(min(left, wanted))
        left, lost = left - preload, lost - preload
        found.append(msgspec.structs.replace(component, preload=preload) if preload else component)
    rest = round(left)
    if rest:
        growth = next((place for place, one in enumerate(found) if isinstance(one, Growth)), None)
        if growth is None:
            start = found[0].schedule[0].start if found and found[0].schedule else 0.0
            found.append(Growth(schedule=(GrowthRow(start, start, 0),), preload=rest))
        else:
            found[growth] = msgspec.structs.replace(found[growth], preload=rest)
    return found
