"""Calibration: the simulation against what was observed while something recovered.

Two factors, each of one kind of figure: the clients' rate, and the rate of a recovery that no limit bounds. They hold
for candidates under the scheduler that was observed: another orders what meets at a device otherwise.
"""

from dataclasses import dataclass

from lsmlens.analyzer.qos.observed_recovery import ObservedRecovery
from lsmlens.tuners.qos.playing import Play

# Outside of these a rate is not that of clients that press on: then the simulation's closed loop is not what was there.
LEAST_FACTOR, MOST_FACTOR = 0.25, 4.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """Factors on simulated rates; 1 where nothing was observed, or what was cannot be compared."""

    client: float = 1.0
    recovery: float = 1.0
    source: str = ""
    note: str = ""

    @property
    def is_of_clients(self) -> bool:
        """Whether clients' figures are calibrated."""
        return bool(self.source) and self.client != 1.0


def calibrate(observed: ObservedRecovery | None, play: Play, played_share: float) -> Calibration:
    """Factors that make the play of the settings in force what was observed.

    `played_share` is the part of the cluster's OSDs that were played.
    """
    if observed is None or play.client is None:
        return Calibration()
    recovery = _factor(observed.objects_per_second * played_share, play.objects_per_second)
    client, note = 1.0, "clients' rate was not observed"
    if observed.client_iops:
        factor = _factor(observed.client_iops * played_share, play.client.iops)
        note = ""
        if factor is None:
            note = f"clients' {observed.client_iops:,.0f} operations/s are not those of a closed loop, and not used"
        client = factor or 1.0
    return Calibration(client, recovery or 1.0, observed.source, note)


def _factor(observed: float, simulated: float) -> float | None:
    """Observed / simulated; None outside of what one could believe."""
    if observed <= 0 or simulated <= 0:
        return None
    factor = observed / simulated
    return factor if LEAST_FACTOR <= factor <= MOST_FACTOR else None
