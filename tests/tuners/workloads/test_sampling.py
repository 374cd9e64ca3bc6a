"""A recorded stream at a scale: some keys, with all of their operations."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from lsmlens.tuners.workloads.document import Workload
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.sampling import sampled
from lsmlens.tuners.workloads.stream import Batches

TEXT = """
name: default
keys: {length: 20}
values: {kind: uniform, low: 0, high: 200}
components:
- {kind: overwrite, rate: 60, working_sets: [{keys: 2000}], deletes_per_put: 0.2}
- {kind: queue, rate: 40, lifetime_puts: 800}
"""


@dataclass
class Recorded:
    """A recording of a declared stream."""

    stream: DeclaredStream

    @property
    def families(self) -> tuple[str, ...]:
        return self.stream.families

    @property
    def seconds(self) -> float:
        return self.stream.seconds

    @property
    def notes(self) -> tuple[str, ...]:
        return self.stream.notes

    def batches(self, seed: int, scale: float = 1.0) -> Iterator[Batches]:
        return sampled(self.stream.batches(1), seed, scale)


@pytest.fixture(scope="module")
def recorded(workload: Callable[..., Workload]) -> Recorded:
    return Recorded(DeclaredStream(workload(TEXT)))


def histories(batches: Any) -> dict[bytes, list[Any]]:
    found = defaultdict(list)
    for second, batch in batches:
        for one in batch:
            found[one.key].append((second, one))
    return found


def test_scale_1_is_the_recording(recorded: Recorded, decoded: Any) -> None:
    assert decoded(recorded) == decoded(recorded.stream)


@pytest.mark.parametrize("scale", [2, 3.5, 16])
def test_a_key_keeps_all_of_its_operations_or_none(scale: float, recorded: Recorded, decoded: Any) -> None:
    whole, some = histories(decoded(recorded.stream)), histories(decoded(recorded, 1, scale))
    assert all(whole[key] == history for key, history in some.items())
    assert len(some) == pytest.approx(len(whole) / scale, rel=0.2)


def test_seeds_choose_other_keys(recorded: Recorded, decoded: Any) -> None:
    first, again, other = (set(histories(decoded(recorded, seed, 4))) for seed in (1, 1, 2))
    assert first == again
    assert len(first & other) == pytest.approx(len(first) / 4, rel=0.3)


def test_range_deletes_stay(workload: Callable[..., Workload], decoded: Any) -> None:
    text = "name: default\nkeys: {length: 20}\nvalues: 1\ncomponents:\n" + (
        "- {kind: growth, rate: 50, range_deletes_per_put: 0.02, range_width: 40}"
    )
    stream = Recorded(DeclaredStream(workload(text)))
    kinds = [one.kind for _, batch in decoded(stream, 1, 10) for one in batch]
    assert kinds.count("R") == 100
    assert kinds.count("P") == pytest.approx(500, rel=0.2)


def test_damaged_batches_and_marks_go() -> None:
    put = b"\x01\x01k\x01v"
    bodies = [put, put + b"\xff", b"\x0d" + put, b"\x0d", put]
    wrapped = [bytes(8) + b"\x01\0\0\0" + body for body in bodies]
    offsets = np.concatenate(([0], np.cumsum([len(one) for one in wrapped])))
    batches = Batches(np.frombuffer(b"".join(wrapped), np.uint8), offsets, np.arange(5.0), 5)
    (found,) = sampled(iter([batches]), 1, 1)
    assert found.buffer.tobytes() == wrapped[0] * 3
    assert found.seconds.tolist() == [0, 2, 4]
    assert found.records == 3
    assert found.offsets.tolist() == [0, 17, 34, 51]
