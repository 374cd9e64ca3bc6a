"""Charts of one run over time. All have the same axis of time and the same left edge, so they read as one."""

from lsmlens.reports.html import bytes_charts, pressure_charts
from lsmlens.reports.html.activity_chart import activity
from lsmlens.reports.html.charts import Chart
from lsmlens.reports.html.latency_chart import latency
from lsmlens.reports.html.time_axis import TimeAxis
from lsmlens.reports.timeline import Timeline


class TimeCharts:
    """Draws one run's timeline; `prefix` keeps its datasets apart from other runs' in a page."""

    def __init__(self, timeline: Timeline, prefix: str = "") -> None:
        self._axis = TimeAxis(timeline, prefix)

    def activity(self) -> Chart:
        """Flushes, compactions and stalls by column family."""
        return activity(self._axis)

    def levels(self) -> Chart:
        """Bytes written by level."""
        return bytes_charts.levels(self._axis)

    def amplification(self) -> Chart:
        """Write amplification by window, and since the beginning."""
        return bytes_charts.amplification(self._axis)

    def latency(self) -> Chart | None:
        """Latencies; None where nothing measured any."""
        return latency(self._axis)

    def kv_thread(self) -> Chart | None:
        """How busy the thread was that commits to RocksDB; None where no line tells."""
        return pressure_charts.kv_thread(self._axis)

    def level0(self) -> Chart | None:
        """Files in level 0 by column family; None where no event tells any."""
        return pressure_charts.level0(self._axis)

    def memtables(self) -> Chart | None:
        """Memory of the memtables that flushes took in, by reason; None without flushes that say it."""
        return bytes_charts.memtables(self._axis)
