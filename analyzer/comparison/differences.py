"""What else tells arms apart: options of unlike values, and findings that one has and another has not."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lsmlens.analyzer.comparison.arms import Arm
from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.options.option_strings import same_value

# table_factory.flush_block_policy_factory: FlushBlockBySizePolicyFactory (0x557e4c98ec90)
_ADDRESS = re.compile(r"\s*\(?0x[0-9a-f]{6,}\)?")
# Option strings whose options are listed one by one as well.
_COMPOSED = ("bluestore_rocksdb_options", "bluestore_rocksdb_options_annex", "bluestore_rocksdb_cfs")


@dataclass(frozen=True, slots=True)
class OptionDifference:
    """One option that is not the same in all arms; of the column families `families`, none for the whole database.

    `values` and `sources` are one for each arm, None where an arm does not tell.
    """

    name: str
    families: tuple[str, ...]
    values: tuple[str | None, ...]
    sources: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class FindingDifference:
    """One finding that some arms have and some have not, or not as severe; `severities` one for each arm.

    An arm that cannot have findings, such as a table, counts as None too.
    """

    code: str
    title: str
    severities: tuple[str | None, ...]
    families: tuple[str, ...]


def option_differences(arms: Sequence[Arm]) -> tuple[OptionDifference, ...]:
    """Options that arms do not share, those of the same values in several families together; by name.

    Options that only one arm tells of say nothing. Daemons of an arm that differ are told one after another.
    """
    told = [_options(arm) for arm in arms]
    alike: dict[tuple[str, tuple[str | None, ...]], list[tuple[str | None, list[_Told | None]]]] = {}
    for family, name in sorted({key for one in told for key in one}, key=lambda key: (key[1], key[0] or "")):
        found = [one.get((family, name)) for one in told]
        values = tuple("; ".join(one.values) if one else None for one in found)
        if _differ([value for value in values if value is not None]):
            alike.setdefault((name, values), []).append((family, found))
    return tuple(
        OptionDifference(
            name,
            tuple(family for family, _ in of_families if family is not None),
            values,
            tuple(_sources([found[place] for _, found in of_families]) for place in range(len(arms))),
        )
        for (name, values), of_families in alike.items()
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """The values the daemons of an arm have for one option, each once, and where they were read."""

    values: list[str]
    sources: list[str]


def _options(arm: Arm) -> dict[tuple[str | None, str], _Told]:
    """(family, name) -> what its daemons tell, without addresses in memory and what is told option by option too."""
    found: dict[tuple[str | None, str], _Told] = {}
    for daemon in (daemon for one in arm.observations for daemon in one.daemons):
        tells_each = any(option.family is not None for option in daemon.options)
        for option in daemon.options:
            if tells_each and option.name in _COMPOSED:
                continue
            value = _ADDRESS.sub("", option.value)
            told = found.setdefault((option.family, option.name), _Told([], []))
            if not any(same_value(value, other) for other in told.values):
                told.values.append(value)
            if option.source not in told.sources:
                told.sources.append(option.source)
    return found


def _sources(told: Sequence[_Told | None]) -> str | None:
    found = dict.fromkeys(source for one in told if one is not None for source in one.sources)
    return "; ".join(found) or None


def _differ(values: Sequence[str]) -> bool:
    return len(values) > 1 and any(not same_value(values[0], value) for value in values[1:])


def finding_differences(arms: Sequence[Arm]) -> tuple[FindingDifference, ...]:
    """Findings by code, the most severe of each arm, where arms differ."""
    severest: dict[str, list[str | None]] = {}
    titles: dict[str, str] = {}
    families: dict[str, set[str]] = {}
    for place, arm in enumerate(arms):
        for found in (found for one in arm.observations for daemon in one.daemons for found in daemon.findings):
            titles.setdefault(found.code, found.title)
            of_arms = severest.setdefault(found.code, [None] * len(arms))
            known = of_arms[place]
            if known is None or Severity(found.severity).rank > Severity(known).rank:
                of_arms[place] = found.severity
            if found.family is not None:
                families.setdefault(found.code, set()).add(found.family)
    return tuple(
        FindingDifference(code, titles[code], tuple(severest[code]), tuple(sorted(families.get(code, ()))))
        for code in sorted(severest)
        if len(set(severest[code])) > 1
    )
