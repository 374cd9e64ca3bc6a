"""What a stream writes, measured, against what its document declares."""

from collections.abc import Callable

import numpy as np
import pytest
from lsmlens.tuners.workloads.document import Workload
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.moments import moments


def test_moments_of_a_declared_workload(workload: Callable[..., Workload]) -> None:
    document = workload(
        """
name: O
shards: 2
keys: {length: {kind: uniform, low: 40, high: 60}, order: scattered}
values: {kind: uniform, low: 100, high: 300}
components:
- {kind: overwrite, rate: 200, deletes_per_put: 0.1, working_sets: [{keys: 4000}]}
""",
        "name: P\nkeys: {length: 41}\nvalues: 150\ncomponents:\n"
        "- {kind: queue, rate: 100, lifetime_puts: 500, single_delete: true}\n"
        "- {kind: merges, rate: 10, working_sets: [{keys: 3}], values: 8}",
        "name: r\nkeys: {length: 9}\nvalues: 0\ncomponents:\n"
        "- {kind: growth, rate: 50, range_deletes_per_put: 0.02, range_width: 10}",
    )
    found = {one.name: one for one in moments(DeclaredStream(document))}
    assert list(found) == ["O-0", "O-1", "P", "r"]
    both = [found["O-0"], found["O-1"]]
    assert sum(one.puts for one in both) == 20_000
    assert sum(one.deletes for one in both) == 2000
    assert sum(one.distinct_keys for one in both) == pytest.approx(4000 * (1 - np.exp(-5.5)), rel=0.01)
    for one in both:
        assert one.key_bytes == pytest.approx(50, abs=0.5)
        assert one.key_bytes_deviation == pytest.approx(np.sqrt((21**2 - 1) / 12), rel=0.05)
        assert one.value_bytes == pytest.approx(200, abs=2)
        assert one.value_bytes_deviation == pytest.approx(np.sqrt((201**2 - 1) / 12), rel=0.05)
        expected = 2000 * -np.expm1(-one.windows / 2000)
        assert one.surviving_puts + one.surviving_tombstones == pytest.approx(expected, rel=0.05)
    queue = found["P"]
    assert (queue.puts, queue.single_deletes, queue.merges, queue.operations) == (10_000, 9500, 1000, 20_500)
    assert queue.value_bytes == pytest.approx((150 * 10_000 + 8 * 1000) / 11_000)
    assert (found["r"].puts, found["r"].range_deletes, found["r"].distinct_keys) == (5000, 100, 5000)
    assert len(queue.windows) == len(queue.surviving_puts) == len(queue.surviving_tombstones) > 10
    assert queue.windows[-1] <= 20_500
