"""Any workload that its document allows makes sound batches, at any scale."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from lsmlens.tuners.workloads.decoding import decode
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.yaml_form import parse_workload, to_yaml

counts = st.integers(0, 60)
ratios = st.sampled_from([0, 0.1, 1, 3.5])
sizes: st.SearchStrategy[Any] = st.one_of(
    st.integers(0, 300),
    st.sampled_from([0.5, 20.25]),
    st.builds(lambda low, more: {"kind": "uniform", "low": low, "high": low + more}, counts, counts),
    st.builds(lambda median, sigma: {"kind": "lognormal", "median": median, "sigma": sigma}, st.just(50), ratios),
)
keys = st.one_of(
    st.builds(lambda length, front: {"length": length, "front": front}, sizes, counts),
    st.builds(lambda length: {"length": length, "order": "scattered"}, sizes),
    st.builds(lambda length, groups: {"length": length, "order": "grouped", "groups": groups}, sizes, st.just(7)),
)
rates = st.one_of(st.sampled_from([0, 0.3, 7]), st.just([[0, 3], [4, 0], [6, 9]]))


@st.composite
def rows(draw: st.DrawFn, columns: int, last: int | None = None) -> list[list[float]]:
    moments = sorted(draw(st.lists(st.sampled_from([0, 1, 2.5, 4, 7, 10]), min_size=2, max_size=12)))
    found = []
    for start, end in zip(moments[::2], moments[1::2], strict=False):
        found.append([start, end, *draw(st.lists(counts, min_size=columns, max_size=columns))])
        if last is not None:
            found[-1].append(draw(st.integers(0, last)))
    return found


@st.composite
def components(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["queue", "overwrite", "merges", "growth", "clustered"]))
    said: dict[str, Any] = {"kind": kind, "preload": draw(counts), "spread": draw(st.sampled_from(["even", "random"]))}
    if draw(st.booleans()):
        said["rate"] = draw(rates)
    else:
        said["schedule"] = draw(rows(2, 1 if kind in ("overwrite", "merges") else None))
    if kind == "queue":
        said |= {"lifetime_puts": draw(counts), "trim": draw(st.integers(1, 30)), "single_delete": draw(st.booleans())}
    elif kind == "growth":
        said |= {"deletes_per_put": draw(ratios), "delete_order": draw(st.sampled_from(["oldest", "random", "aged"]))}
        if said["delete_order"] == "aged":
            said["delete_age"] = draw(st.integers(1, 100))
        if said["delete_order"] == "oldest" and draw(st.booleans()):
            said |= {"range_deletes_per_put": draw(ratios), "range_width": draw(st.integers(1, 20))}
            said["keys"] = {"length": draw(sizes)}
        else:
            said["repeated_deletes"] = draw(st.sampled_from([0, 0.3, 1]))
    elif kind == "clustered":
        said |= {"objects": draw(st.integers(1, 9)), "keys_per_object": draw(st.integers(1, 40))}
        said |= {"batch": draw(st.integers(1, 20)), "removals_per_put": draw(ratios), "clears_per_put": draw(ratios)}
    else:
        sets = [{"keys": draw(st.integers(1, 50)), "zipf": draw(ratios)} for _ in range(2)]
        said |= {"working_sets": sets, "deletes_per_put": draw(ratios)}
    return said


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    families = [
        {
            "name": name,
            "keys": draw(keys),
            "values": draw(sizes),
            "compression_ratio": draw(st.sampled_from([0.2, 0.5, 1])),
            "components": draw(st.lists(components(), min_size=1, max_size=3)),
        }
        for name in draw(st.sampled_from([["default"], ["O", "P"], ["O-0", "O-1", "default"]]))
    ]
    how = {"operations": draw(st.integers(1, 30)), "families": draw(st.sampled_from(["together", "apart"]))}
    document = {"schema": "lsmlens.workload/1", "name": "any", "seconds": 10, "transactions": how}
    return document | {"column_families": families}


@settings(deadline=None, max_examples=40)
@given(documents(), st.sampled_from([1, 1.5, 7, 1000]), st.sampled_from([None, {"O": 2}, {}]))
def test_any_workload(document: dict[str, Any], scale: float, sharding: dict[str, int] | None) -> None:
    import yaml

    workload = parse_workload(yaml.dump(document), "any.yaml")
    assert parse_workload(to_yaml(workload), "again.yaml") == workload
    stream = DeclaredStream(workload, sharding)
    written = 0
    last = 0.0
    for batches in stream.batches(3, scale):
        decoded = decode(batches)
        assert len(decoded.damaged) == decoded.marks == 0
        assert len(decoded.records) == batches.records
        assert len(np.unique(decoded.records.batch)) == len(batches.seconds)
        assert decoded.records.family.max() < len(stream.families)
        assert (np.diff(batches.seconds, prepend=last) >= 0).all()
        last = batches.seconds[-1]
        written += batches.records
    assert last <= 10
    assert written == sum(len(one) for one in stream.operations(3, scale))
    assert stream.preloaded_records(scale) <= written
