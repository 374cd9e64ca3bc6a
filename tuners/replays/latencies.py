"""Latency percentiles through an HDR histogram."""

import numpy as np
from hdrh.histogram import HdrHistogram
from lsmlens.tuners.replays.measurement import PERCENTILES, Latencies
from numpy.typing import NDArray

LOWEST, HIGHEST = 1, 3_600_000_000  # microseconds, up to an hour
DIGITS = 3


class LatencyRecorder:
    """Takes in the latencies of writes, chunk by chunk."""

    def __init__(self) -> None:
        self._response = HdrHistogram(LOWEST, HIGHEST, DIGITS)
        self._service = HdrHistogram(LOWEST, HIGHEST, DIGITS)

    def add(self, response_seconds: NDArray[np.float64], service_seconds: NDArray[np.float64]) -> None:
        """Take in writes: seconds from when each was due, and seconds from when it was begun (shape: writes,)."""
        _record(self._response, response_seconds)
        _record(self._service, service_seconds)

    def latencies(self) -> Latencies | None:
        """The percentiles so far; None where nothing was written."""
        count = self._response.get_total_count()
        if not count:
            return None
        return Latencies(
            writes=count,
            response_micros=_percentiles(self._response),
            service_micros=_percentiles(self._service),
            mean_response_micros=float(self._response.get_mean_value()),
        )


def _record(histogram: HdrHistogram, seconds: NDArray[np.float64]) -> None:
    micros = np.clip(np.rint(seconds * 1e6), LOWEST, HIGHEST).astype(np.int64)
    values, counts = np.unique(micros, return_counts=True)
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        histogram.record_value(value, count)


def _percentiles(histogram: HdrHistogram) -> dict[float, float]:
    return {percentile: float(histogram.get_value_at_percentile(percentile)) for percentile in PERCENTILES}
