"""Structures: what flushes and merges leave open, to be tried under the log's own options.

Where new keys sort among the old, whether deletes take the oldest keys, any, or some as they come of age, and how many
keys go at once change what compactions do, but not how much survives a merge. A replay under the log's own options
tells them apart.
"""

from collections.abc import Sequence
from dataclasses import replace

from lsmlens.tuners.estimation.family_fit import FamilyFit
from lsmlens.tuners.estimation.family_parts import First, Variation
from lsmlens.tuners.workloads.components import DeleteOrder, Growth

FEW_GROUPS = 8
CLEAR_FACTORS = (2.0, 0.5)
FIRST: tuple[First, ...] = ("fresh", "hot")


def structures(family: FamilyFit) -> list[Variation]:
    """Other structures of one family, likelier ones first."""
    used = family.variation
    if family.calibration is not None or family.is_settled:
        return []
    if any(part.is_clustered for part in family.parts):
        return [replace(used, clear_factor=used.clear_factor * factor) for factor in CLEAR_FACTORS]
    grouped = replace(used, order="grouped", groups=FEW_GROUPS)
    is_fresh = [part.is_fresh for part in family.parts]
    if not any(is_fresh):
        return [grouped]
    order = family.column_family.keys.order
    sequential = [replace(used, order="sequential", first=first) for first in FIRST] if not all(is_fresh) else []
    found = sequential or ([replace(used, order="sequential")] if order != "sequential" else [])
    if _deletes(family, "oldest"):
        first = found[0] if found else used
        found += [replace(first, deletes="aged"), replace(first, deletes="random"), replace(used, deletes="random")]
    if _deletes(family, "random") and used.deletes is None and used.hot_keys is None:
        found += [replace(one, deletes="oldest") for one in (*found, used)]
    found.append(grouped)
    if order != "scattered":
        found.append(replace(used, order="scattered"))
    return found


def rounds(families: Sequence[FamilyFit]) -> list[dict[str, Variation]]:
    """What to try, all families at once: for each round a structure of every family that still has one."""
    every = {one.column_family.name: structures(one) for one in families}
    most = max((len(found) for found in every.values()), default=0)
    return [{name: found[number] for name, found in every.items() if number < len(found)} for number in range(most)]


def _deletes(family: FamilyFit, order: DeleteOrder) -> bool:
    """Whether fresh keys are deleted in this order."""
    return any(
        isinstance(part.component, Growth) and part.component.delete_order == order and part.deletes.any()
        for part in family.parts
    )
