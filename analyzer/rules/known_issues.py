"""R28: a known issue of a release, an option or a counter."""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar

import msgspec
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.bundles.roles import Role
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import counted, plain
from lsmlens.analyzer.options.option_strings import parse_size, same_value
from lsmlens.analyzer.options.options_in_force import value_of
from lsmlens.analyzer.options.sharding import DEFAULT_FAMILY
from lsmlens.analyzer.rules.cluster_health import speaks_for_cluster
from lsmlens.analyzer.rules.compaction_speed import mib_per_second
from lsmlens.analyzer.runs.osds import ceph_release, is_osd

BOOK = Path(__file__).parent / "known_issues.yaml"
# What Ceph's collector looks at, and what makes a pile (R13).
PILE_ENTRIES, PILE_SHARE = 32768, 0.5


class Issue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of the rule book. All conditions that are given must hold.

    `at_least` and `before` bound the Ceph release, or `ranges` do, of which one must hold. Compactions that write less
    than `mib_per_second_below` each are slow. `slow_operations` are beginnings of what BlueStore's lines name;
    `counter` is above `above`; `range_deletions` and `piles` are those in tables, at least so many; `marked_down` is
    the number of times the OSD was taken for dead while the log holds manual compactions. `rotational` is of the main
    device. `health` are checks of the cluster, of which none begins with one of `health_none`: such an issue is the
    cluster's, and is told once.
    """

    code: str
    title: str
    statement: str
    advice: str
    sources: list[str]
    severity: str = "warning"
    confidence: str = "medium"
    at_least: str | None = None
    before: str | None = None
    ranges: list[tuple[str, str]] = []
    mib_per_second_below: float = 0.0
    option: dict[str, str] = {}
    ceph_option: dict[str, str] = {}
    below: dict[str, int] = {}
    counter: str | None = None
    above: int = 0
    slow_operations: list[str] = []
    only_default_family: bool = False
    several_families: bool = False
    range_deletions: int = 0
    piles: int = 0
    marked_down: int = 0
    rotational: bool = False
    health: list[str] = []
    health_none: list[str] = []


class KnownIssues:
    """What is seen is a known issue of this release, option or counter.

    Evidence: the release, options in force, counters, slow operations and tables that an entry of the rule book
    (`analyzer/rules/known_issues.yaml`) names; all of an entry's conditions must hold. Each entry was checked against
    the public source it cites.

    Threshold: the entry's own; the source says where it is from.

    Advice: the entry's own, mostly an upgrade or an option.

    Risk: upgrades and options are tried on one OSD first.

    Check: the evidence is gone after the change, under the same load.
    """

    code: ClassVar[str] = "R28"
    title: ClassVar[str] = "Known issue"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:
        """One finding for each entry that holds; OSDs only, but for what the cluster's health says."""
        for issue in rule_book():
            if not (speaks_for_cluster(run, peers) if issue.health else is_osd(run.run)):
                continue
            evidence = list(_proofs(run, issue))
            if evidence and None not in evidence:
                yield Finding(
                    code=self.code,
                    title=issue.title,
                    severity=Severity(issue.severity),
                    confidence=Confidence(issue.confidence),
                    meaning=issue.statement,
                    value=f"{issue.code}: {'; '.join(one.text for one in evidence if one is not None)}",
                    threshold=_bounds(issue),
                    threshold_source="; ".join(issue.sources),
                    evidence=tuple(one for one in evidence if one is not None),
                    advice=issue.advice,
                    risk="upgrades and options are tried on one OSD first",
                    check="the evidence is gone after the change, under the same load",
                )


@cache
def rule_book() -> tuple[Issue, ...]:
    """The known issues, in the order of the file."""
    import yaml

    return tuple(msgspec.convert(yaml.load(BOOK.read_text(), yaml.CSafeLoader), list[Issue]))


def _bounds(issue: Issue) -> str:
    if issue.ranges:
        return f"Ceph {', '.join(f'{first} to before {end}' for first, end in issue.ranges)}"
    bounds = [f"from {issue.at_least}" if issue.at_least else "", f"before {issue.before}" if issue.before else ""]
    return f"Ceph {' '.join(filter(None, bounds))}" if any(bounds) else "any release"


def _proofs(run: RunAnalysis, issue: Issue) -> Iterator[Evidence | None]:
    """Evidence for each condition of the issue, None for one that does not hold or that nothing tells of."""
    if issue.at_least or issue.before:
        yield _release(run, ((issue.at_least, issue.before),))
    if issue.ranges:
        yield _release(run, issue.ranges)
    if issue.mib_per_second_below:
        yield _speed(run, issue.mib_per_second_below)
    for name, value in issue.option.items():
        yield _option(run, name, value)
    for name, value in issue.ceph_option.items():
        yield _ceph_option(run, name, value)
    for name, least in issue.below.items():
        yield _below(run, name, least)
    if issue.counter:
        yield _counter(run, issue.counter, issue.above)
    if issue.slow_operations:
        yield _slow(run, tuple(issue.slow_operations))
    if issue.only_default_family or issue.several_families:
        yield _families(run, issue)
    if issue.range_deletions or issue.piles:
        yield _tables(run, issue)
    if issue.rotational:
        yield _rotational(run)
    if issue.health:
        yield _health(run, issue)
    if issue.marked_down:
        yield _marked_down(run, issue.marked_down)


def _release(run: RunAnalysis, ranges: Sequence[tuple[str | None, str | None]]) -> Evidence | None:
    release = ceph_release(run.run)
    if release is None or not any(
        release >= _numbers(first) and (end is None or release < _numbers(end)) for first, end in ranges
    ):
        return None
    return Evidence(run.name, f"Ceph {run.ceph_version}")


def _speed(run: RunAnalysis, below: float) -> Evidence | None:
    speed = mib_per_second(run)
    return Evidence(run.name, f"{speed:.1f} MiB/s a compaction") if speed is not None and speed < below else None


def _numbers(version: str | None) -> tuple[int, ...]:
    return tuple(map(int, version.split("."))) if version else ()


def _option(run: RunAnalysis, name: str, value: str) -> Evidence | None:
    found = next((one for one in run.options if one.name == name and one.family in (None, DEFAULT_FAMILY)), None)
    holds = found is not None and same_value(found.value, value)
    return Evidence(str(found.source), f"{name}={found.value}") if found is not None and holds else None


def _ceph_option(run: RunAnalysis, name: str, value: str) -> Evidence | None:
    found = _of_ceph(run, name)
    return Evidence("config show", f"{name}={found}") if found is not None and same_value(found, value) else None


def _below(run: RunAnalysis, name: str, least: int) -> Evidence | None:
    found = _of_ceph(run, name)
    size = parse_size(found or "")
    return Evidence("config show", f"{name}={found}") if size is not None and size < least else None


def _of_ceph(run: RunAnalysis, name: str) -> str | None:
    shown = run.beside.config_show.get(name)
    return shown if isinstance(shown, str) else value_of(run.ceph_options, None, name)


def _counter(run: RunAnalysis, name: str, above: int) -> Evidence | None:
    found = [(dump.number(name), dump.source) for dump in run.beside.perf_dumps]
    most, source = max(((value, where) for value, where in found if value is not None), default=(0, ""))
    return Evidence(source, f"{name} {plain(round(most))}") if most > above else None


def _slow(run: RunAnalysis, names: tuple[str, ...]) -> Evidence | None:
    counted = [what for what, *_ in run.run.slow_operations if str(what).startswith(names)]
    if not counted:
        return None
    place = max((run.run.slow_places[what] for what in set(counted)), key=lambda one: one[0])[1]
    return Evidence(place.source, f"{len(counted)} slow {', '.join(sorted(set(counted)))}", place.line)


def _families(run: RunAnalysis, issue: Issue) -> Evidence | None:
    families = {one.family for one in run.options if one.family is not None}
    holds = families == {DEFAULT_FAMILY} if issue.only_default_family else len(families) > 1
    said = counted(len(families), "column family", "column families")
    return Evidence(run.name, said) if families and holds else None


def _tables(run: RunAnalysis, issue: Issue) -> Evidence | None:
    import polars as pl

    tables = run.scan_tables()
    if issue.range_deletions:
        count = int(tables.select(pl.col("range_deletions").sum()).collect().item())
        said = f"{plain(count)} range deletions in tables"
        return Evidence(run.name, said) if count >= issue.range_deletions else None
    is_pile = (
        pl.col("deleted_at").is_null()
        & (pl.col("level") > 0)
        & (pl.col("entries") >= PILE_ENTRIES)
        & (pl.col("deletions") > PILE_SHARE * pl.col("entries"))
    )
    piles = tables.select(is_pile.sum()).collect().item()
    return Evidence(run.name, f"{counted(piles, 'table')} full of tombstones") if piles >= issue.piles else None


def _rotational(run: RunAnalysis) -> Evidence | None:
    for one in run.run.companions:
        rows = one.content if isinstance(one.content, list) else [one.content]
        for row in rows if one.role is Role.OSD_METADATA else ():
            if f"osd.{row.get('id')}" == run.name.rsplit("/", 1)[-1] and row.get("bluestore_bdev_rotational") == "1":
                return Evidence(one.path, "bluestore_bdev_rotational 1")
    return None


def _health(run: RunAnalysis, issue: Issue) -> Evidence | None:
    cluster = run.beside.cluster
    if cluster is None or any(one.code.startswith(tuple(issue.health_none)) for one in cluster.health):
        return None
    found = [cluster.check(code) for code in issue.health]
    if None in found:
        return None
    source = cluster.sources.get(Role.HEALTH.value, "ceph health detail")
    return Evidence(source, "; ".join(f"{one.code}: {one.summary}" for one in found if one is not None))


def _marked_down(run: RunAnalysis, least: int) -> Evidence | None:
    import polars as pl

    times = len(run.run.marked_down)
    if times < least:
        return None
    manual = run.scan_jobs().select((pl.col("reason") == "ManualCompaction").sum()).collect().item()
    if not manual:
        return None
    said = f"taken for dead {counted(times, 'time')}, {counted(manual, 'manual compaction')} in the log"
    return Evidence(run.name, said)
