"""What mClock gives each class on an OSD, as its config show has it, and the profiles that belong to that."""

from dataclasses import dataclass

from lsmlens.analyzer.qos.cost_model import counts_bytes
from lsmlens.analyzer.qos.profiles import (
    BUILT_IN,
    CUSTOM,
    LEAST_UNITS,
    NO_LIMIT_UNITS,
    Allotment,
    Allotments,
    ProfileTable,
    matching_table,
    table_of_release,
)
from lsmlens.analyzer.qos.service_classes import SCHEDULED, ServiceClass
from lsmlens.analyzer.qos.settings import Release, Settings

OPTION_OF_CLASS = {
    ServiceClass.CLIENT: "client",
    ServiceClass.RECOVERY: "background_recovery",
    ServiceClass.BEST_EFFORT: "background_best_effort",
}
PARTS = ("res", "wgt", "lim")


@dataclass(frozen=True, slots=True)
class AllotmentsInForce:
    """Shares of the capacity by class, and where they were read.

    `table` is the set of built-in profiles they are of: it says what another profile would be. None where none agrees.
    `is_assumed` where they are not shown, but what the release's profile has.
    """

    classes: Allotments
    source: str
    table: ProfileTable | None
    is_assumed: bool = False


def allotments_in_force(
    settings: Settings, release: Release | None, profile: str, units_per_shard: float | None
) -> AllotmentsInForce | None:
    """Those shown; from 17.2.7 on else those of the release's profile; None where neither is to be had."""
    is_bytes = counts_bytes(release)
    found = _shown(settings, is_bytes, units_per_shard)
    if found is not None:
        classes, source = found
        table = None
        if profile in BUILT_IN and units_per_shard:
            table = matching_table(profile, classes, is_bytes, units_per_shard)
        elif profile == CUSTOM:
            table = table_of_release(release)
        return AllotmentsInForce(classes, source, table)
    table = table_of_release(release)
    if table is None or profile not in BUILT_IN:
        return None
    return AllotmentsInForce(table.profiles[profile], f"{profile} of the release's profiles", table, is_assumed=True)


def option_name(service_class: ServiceClass, part: str) -> str:
    """The option of a class's reservation (`res`), weight (`wgt`) or limit (`lim`)."""
    return f"osd_mclock_scheduler_{OPTION_OF_CLASS[service_class]}_{part}"


def _shown(settings: Settings, is_bytes: bool, units: float | None) -> tuple[Allotments, str] | None:
    """What config show says: shares of the capacity, or in older releases units a second of one queue."""
    found: dict[ServiceClass, Allotment] = {}
    source = ""
    for service_class in SCHEDULED:
        numbers = []
        for part in PARTS:
            name = option_name(service_class, part)
            setting = settings[name] if name in settings.shown_names else None
            if setting is None or setting.real is None:
                return None
            numbers.append(setting.real)
            source = setting.source
        reservation, weight, limit = numbers
        if not is_bytes:
            if not units:
                return None
            reservation = 0.0 if reservation <= LEAST_UNITS else reservation / units
            limit = 0.0 if limit >= NO_LIMIT_UNITS else limit / units
        found[service_class] = Allotment(reservation, weight, limit)
    return found, source
