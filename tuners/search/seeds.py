"""Candidates to begin with: what the findings of an analysis advise, and what Ceph's releases run with."""

from collections.abc import Iterator, Mapping

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.presets import preset, preset_names
from lsmlens.tuners.search.space import Dimension, Space

Seed = tuple[str, str, dict[str, str]]
# What rules advise in words, as steps on the ladders: rule, option, whether for the column it speaks of, steps.
ADVICE: Mapping[str, tuple[tuple[str, bool, int], ...]] = {
    "R01": (("max_background_jobs", False, 1), ("max_write_buffer_number", False, 1)),
    "R02": (("max_background_jobs", False, 1),),
    "R03": (("max_background_jobs", False, 1),),
    "R04": (("max_bytes_for_level_base", False, 2),),
    "R05": (("min_write_buffer_number_to_merge", True, 3), ("max_write_buffer_number", False, 2)),
    "R06": (("max_total_wal_size", False, 1),),
    "R23": (("max_background_jobs", False, 1),),
}
# Shapes that have helped elsewhere, from the present values: fewer and larger flushes, or a larger level 1.
SHAPES: Mapping[str, Mapping[str, int]] = {
    "larger level 1": {"max_bytes_for_level_base": 2},
    "much larger level 1": {"max_bytes_for_level_base": 4},
    "much larger level 1, later level 0": {"max_bytes_for_level_base": 4, "level0_file_num_compaction_trigger": 2},
    "merged memtables": {"write_buffer_size": -2, "min_write_buffer_number_to_merge": 4, "max_write_buffer_number": 4},
    "merged memtables, larger level 1": {
        "write_buffer_size": -2,
        "min_write_buffer_number_to_merge": 4,
        "max_write_buffer_number": 4,
        "max_bytes_for_level_base": 2,
        "level0_file_num_compaction_trigger": 2,
    },
    "later level 0": {"level0_file_num_compaction_trigger": 2, "max_bytes_for_level_base": 1},
    "less WAL, less memory": {"max_total_wal_size": -1},
}


def seeds(run: RunAnalysis, space: Space) -> list[Seed]:
    """Name, origin and choices of each that is not as the present settings."""
    present = space.present
    found = [(f"{code}'s advice", f"finding {code}", choices) for code, choices in _advised(run, space, present)]
    for name, steps in SHAPES.items():
        wanted = [(one, steps[one.option]) for one in space.dimensions if one.column is None and one.option in steps]
        found.append((name, "a shape", _moved(present, wanted)))
    earlier = [present, *(one[2] for one in found)]
    return [one for place, one in enumerate(found, 1) if one[2] not in earlier[:place]]


def presets() -> Iterator[OptionSet]:
    """The options of Ceph's releases, each once though two releases share them."""
    seen: list[tuple[object, object]] = []
    for name in preset_names():
        options = preset(name)
        if (options.values, options.overrides) not in seen and name.startswith("ceph:"):
            seen.append((options.values, options.overrides))
            yield options


def _advised(run: RunAnalysis, space: Space, present: Mapping[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    together: dict[str, str] = dict(present)
    codes: list[str] = []
    for code in dict.fromkeys(one.code for one in run.findings if one.code in ADVICE):
        columns = {
            one.column_family.partition("-")[0] for one in run.findings if one.code == code and one.column_family
        }
        wanted: list[tuple[Dimension, int]] = []
        for option, is_of_column, steps in ADVICE[code]:
            own = [one for one in space.dimensions if one.option == option and one.column in columns]
            shared = [one for one in space.dimensions if one.option == option and one.column is None]
            wanted += [(one, steps) for one in (own if is_of_column and own else shared)]
        if wanted:
            codes.append(code)
            yield code, _moved(present, wanted)
            together = _moved(together, wanted)
    if len(codes) > 1:
        yield " and ".join(codes), together


def _moved(choices: Mapping[str, str], steps: list[tuple[Dimension, int]]) -> dict[str, str]:
    moved = dict(choices)
    for dimension, count in steps:
        place = dimension.values.index(moved[dimension.name]) + count
        moved[dimension.name] = dimension.values[max(0, min(len(dimension.values) - 1, place))]
    return moved
