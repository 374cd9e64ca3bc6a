"""Latency percentiles."""

import numpy as np
import pytest
from lsmlens.tuners.replays.latencies import LatencyRecorder


def test_no_writes_no_percentiles() -> None:
    assert LatencyRecorder().latencies() is None


def test_percentiles_are_those_of_all_chunks() -> None:
    rng = np.random.default_rng(1)
    response = rng.lognormal(np.log(200e-6), 1.0, 20_000)
    recorder = LatencyRecorder()
    for chunk in np.array_split(response, 7):
        recorder.add(chunk, chunk / 2)
    found = recorder.latencies()
    assert found is not None
    assert found.writes == 20_000
    for percent, micros in found.response_micros.items():
        assert micros == pytest.approx(np.percentile(response, percent) * 1e6, rel=0.02), percent
        assert found.service_micros[percent] == pytest.approx(micros / 2, rel=0.02, abs=1)
    assert found.mean_response_micros == pytest.approx(response.mean() * 1e6, rel=0.01)


def test_a_time_before_it_is_due_counts_as_the_least() -> None:
    recorder = LatencyRecorder()
    recorder.add(np.array([-1e-6, 0.0]), np.array([0.0, 1e-7]))
    found = recorder.latencies()
    assert found is not None
    assert set(found.response_micros.values()) == {1.0}
