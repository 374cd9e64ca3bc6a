"""Candidates: what could be set, as a scheduler of the simulation and as commands."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf

from lsmlens.analyzer.qos.allocation import charges_in_force
from lsmlens.analyzer.qos.capacity_rules import COMPILED_DEFAULT, PLAUSIBLE
from lsmlens.analyzer.qos.cost_model import CostModel, byte_costs, counts_bytes, unit_costs
from lsmlens.analyzer.qos.in_force import MCLOCK, WPQ
from lsmlens.analyzer.qos.log_lines import LineKind
from lsmlens.analyzer.qos.profiles import (
    BUILT_IN,
    LEAST_UNITS,
    NO_LIMIT_UNITS,
    Allotments,
    ProfileTable,
    table_of_release,
)
from lsmlens.analyzer.qos.remedies import restart, set_option, unset_option
from lsmlens.analyzer.qos.service_classes import ServiceClass
from lsmlens.analyzer.qos.view import OsdView
from lsmlens.tuners.qos.devices import spins_at_limit
from lsmlens.tuners.qos.dmclock import Share
from lsmlens.tuners.qos.scenario import Scheduler

OVERRIDE = "osd_mclock_override_recovery_settings"
# Ours: more copies at once than these only lengthen what each takes.
BACKFILLS = {"hdd": (1, 2, 3), "ssd": (1, 2, 4)}
ONE_SHARD = (1, 5)
DEFAULT_SHARDS = {"hdd": (1, 5), "ssd": (8, 2)}


@dataclass(frozen=True, slots=True)
class Candidate:
    """Settings of all OSDs of a cluster: scheduler, profile, concurrency, queues, capacity.

    `profile` is empty for WPQ; `capacity` None where it is not known. `is_current` for what is in force.
    """

    scheduler: str
    profile: str
    max_backfills: int
    max_active: int
    shards: int
    threads: int
    capacity: float | None = None
    is_current: bool = False

    @property
    def name(self) -> str:
        """A short name: what it is, and how much at once."""
        return f"{self.profile or self.scheduler}, {self.max_backfills} backfill{'s' * (self.max_backfills > 1)}"


class Candidates:
    """The settings in force on an OSD, and those worth comparing with them."""

    def __init__(self, osd: OsdView) -> None:
        in_force = osd.in_force
        self._osd = osd
        self.kind = in_force.kind or "hdd"
        self.table = self._table()
        shards, threads = DEFAULT_SHARDS[self.kind]
        self.current = Candidate(
            scheduler=in_force.scheduler.value if in_force.scheduler is not None else MCLOCK,
            profile=in_force.profile.value if in_force.is_mclock and in_force.profile is not None else "",
            max_backfills=max(1, int(_number(in_force.max_backfills, 1))),
            max_active=max(1, int(_number(in_force.max_active, 3 if self.kind == "hdd" else 10))),
            shards=in_force.shard_count or shards,
            threads=in_force.thread_count or threads,
            capacity=_number(in_force.capacity, 0) or None,
            is_current=True,
        )

    def _table(self) -> ProfileTable | None:
        in_force = self._osd.in_force
        if in_force.shares is not None:
            return in_force.shares.table
        return table_of_release(in_force.release)

    def all(self) -> Iterator[Candidate]:
        """What is in force first; then profiles by backfills, with what a finding mends already mended."""
        current = self.current
        yield current
        mended = replace(current, is_current=False, capacity=self.mended_capacity or current.capacity)
        if self.kind == "hdd" and current.shards > 1 and current.scheduler == MCLOCK:
            mended = replace(mended, shards=ONE_SHARD[0], threads=ONE_SHARD[1])
        profiles = BUILT_IN if self.table is not None and current.scheduler == MCLOCK else (current.profile,)
        counts = sorted({current.max_backfills, *BACKFILLS[self.kind]})
        for profile in profiles:
            for count in counts:
                other = replace(mended, profile=profile, max_backfills=count)
                if replace(other, is_current=True) != current:
                    yield other

    def changes(self, candidate: Candidate) -> int:
        """How many settings a candidate changes; not its capacity, which a finding mends anyway."""
        current = self.current
        return (
            (candidate.profile != current.profile)
            + (candidate.max_backfills != current.max_backfills)
            + self.needs_restart(candidate)
        )

    @property
    def mended_capacity(self) -> float | None:
        """What the OSD's benchmark gave, where the capacity is the default though the benchmark says otherwise."""
        capacity = self.current.capacity
        if capacity is None or capacity != COMPILED_DEFAULT[self.kind] or not self._osd.in_force.is_mclock:
            return None
        line = self._osd.material.last_line(LineKind.BENCH_REFUSED)
        iops = line.real("iops") if line is not None else None
        return iops if iops is not None and iops <= PLAUSIBLE["ssd"][1] else None

    def scheduler_of(self, candidate: Candidate, object_bytes: float) -> Scheduler:
        """A candidate as the simulation takes it."""
        costs = self._costs(candidate)
        charges = charges_in_force(self._osd.settings, costs, object_bytes)
        shares = self._shares(candidate) if candidate.scheduler == MCLOCK else {}
        in_force = self._osd.in_force
        return Scheduler(
            shares,
            costs,
            charges,
            candidate.shards,
            candidate.threads,
            in_force.cutoff,
            spins=candidate.scheduler == MCLOCK and spins_at_limit(in_force.release),
        )

    def _costs(self, candidate: Candidate) -> CostModel:
        in_force = self._osd.in_force
        capacity = candidate.capacity or COMPILED_DEFAULT[self.kind]
        if not counts_bytes(in_force.release):
            return in_force.costs or unit_costs(self.kind)
        return byte_costs(self.bandwidth, capacity)

    @property
    def bandwidth(self) -> float:
        """The sequential bandwidth in force, or the default of 17.2.7 and later."""
        default = 157_286_400.0 if self.kind == "hdd" else 1_258_291_200.0
        return _number(self._osd.in_force.bandwidth, default)

    def allotments(self, candidate: Candidate) -> Allotments | None:
        """The shares of a candidate's profile; None for WPQ and where they are not known."""
        shares = self._osd.in_force.shares
        if candidate.scheduler == WPQ:
            return None
        if shares is not None and candidate.profile == self.current.profile:
            return shares.classes
        return self.table.profiles.get(candidate.profile) if self.table is not None else None

    def _shares(self, candidate: Candidate) -> dict[ServiceClass, Share]:
        allotments = self.allotments(candidate)
        if allotments is None:
            return {}
        is_bytes = counts_bytes(self._osd.in_force.release)
        total = self.bandwidth if is_bytes else candidate.capacity or COMPILED_DEFAULT[self.kind]
        units = total / candidate.shards
        if is_bytes:
            return {
                one: Share(allotted.reservation * units, allotted.weight, allotted.limit * units or inf)
                for one, allotted in allotments.items()
            }
        # Older releases round to whole units a second, have a least reservation, and a limit that is next to none.
        return {
            one: Share(
                max(float(LEAST_UNITS), float(round(allotted.reservation * units))),
                allotted.weight,
                float(round(allotted.limit * units)) or float(NO_LIMIT_UNITS),
            )
            for one, allotted in allotments.items()
        }

    def commands(self, candidate: Candidate) -> tuple[str, ...]:
        """What turns the settings in force into a candidate's."""
        current = self.current
        said: list[str] = []
        if candidate.capacity != current.capacity and candidate.capacity is not None:
            option = f"osd_mclock_max_capacity_iops_{self.kind}"
            said.append(set_option(self._osd.number, option, f"{candidate.capacity:.0f}"))
        if candidate.profile != current.profile:
            said.append(set_option("*", "osd_mclock_profile", candidate.profile))
        if candidate.max_backfills != current.max_backfills:
            if candidate.scheduler == MCLOCK:
                said.append(set_option("*", OVERRIDE, "true"))
            said.append(set_option("*", "osd_max_backfills", candidate.max_backfills))
        if (candidate.shards, candidate.threads) != (current.shards, current.threads):
            said.append(set_option("*", f"osd_op_num_shards_{self.kind}", candidate.shards))
            said.append(set_option("*", f"osd_op_num_threads_per_shard_{self.kind}", candidate.threads))
            said.append(restart("N"))
        return tuple(said)

    def way_back(self, candidate: Candidate) -> tuple[str, ...]:
        """What takes a candidate's settings back to those in force."""
        current = self.current
        said: list[str] = []
        if candidate.capacity != current.capacity:
            said.append(unset_option(self._osd.number, f"osd_mclock_max_capacity_iops_{self.kind}"))
        if candidate.profile != current.profile:
            said.append(self._back("osd_mclock_profile", current.profile))
        if candidate.max_backfills != current.max_backfills:
            said.append(self._back("osd_max_backfills", current.max_backfills))
            if candidate.scheduler == MCLOCK:
                said.append(unset_option("*", OVERRIDE))
        if (candidate.shards, candidate.threads) != (current.shards, current.threads):
            said.append(self._back(f"osd_op_num_shards_{self.kind}", current.shards))
            said.append(self._back(f"osd_op_num_threads_per_shard_{self.kind}", current.threads))
            said.append(restart("N"))
        return tuple(said)

    def _back(self, name: str, value: object) -> str:
        """Set again what was set before, else take the setting away."""
        stored = self._osd.settings.stored(name)
        return set_option("*", name, value) if stored is not None else unset_option("*", name)

    def needs_restart(self, candidate: Candidate) -> bool:
        """Whether a candidate counts only after OSDs were restarted."""
        return (candidate.shards, candidate.threads) != (self.current.shards, self.current.threads)


def _number(setting: object, otherwise: float) -> float:
    value = getattr(setting, "real", None)
    return value if isinstance(value, int | float) and value else otherwise
