"""R08: a Reef or later OSD kept the sharding text of an earlier release."""

from collections.abc import Iterator
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, OptionChange, Severity
from lsmlens.analyzer.options.option_evidence import Source
from lsmlens.analyzer.options.option_strings import parse_size
from lsmlens.analyzer.options.options_in_force import MERGE, OptionInForce, value_of
from lsmlens.analyzer.options.sharding import DEFAULT_FAMILY, parse_show_sharding
from lsmlens.analyzer.rules.sharding_rule import ShardingRule, resharding, show_sharding
from lsmlens.analyzer.runs.osds import REEF

# bluestore_rocksdb_cfs since 18: L=min_write_buffer_number_to_merge=32 P=min_write_buffer_number_to_merge=32
# (Ceph PR 51821: with 6 the PG log's put and tombstone pairs land in different flushes).
LEAST_MERGED = 32
BUFFERS = "max_write_buffer_number"
# Deferred writes and the PG log: the columns whose keys are removed soon after they were written.
SHORT_LIVED = ("L", "P")
# What these say is of the family itself. What was printed for the default family is so only for a family that the
# stored text gives no options.
OF_THE_FAMILY = (Source.LOG, Source.SET_OPTIONS, Source.SHARDING, Source.FLUSHES)


class KeptSharding(ShardingRule):
    """A Reef or later OSD flushes the PG log or deferred writes before their removal can cancel them out.

    Evidence: min_write_buffer_number_to_merge of the families L and P, from the stored sharding text or from how many
    memtables their flushes merged. An OSD made by 16 or 17 takes Reef's other options at the upgrade (merge 6) but
    keeps its text, which says nothing for L and P.

    Threshold: below 32, from 18 on. Ceph PR 51821, the default of bluestore_rocksdb_cfs since 18.

    Advice: reshard to the release's text, one OSD at a time. The options of L and P are in that text only. Where
    max_write_buffer_number is below what they merge, it is given the release's value first.

    Risk: the OSD is down while resharding, which takes minutes to hours where families change, less where only their
    options do. Interrupted, the OSD does not start until the same command has been run to its end. L and P then hold
    up to 32 write buffers each before a flush, unless max_total_wal_size forces one sooner.

    Check: `show-sharding` prints the text; flushes of P for "Write Buffer Full" merge 32 memtables.
    """

    code: ClassVar[str] = "R08"
    title: ClassVar[str] = "Sharding text of an earlier release"
    first_release: ClassVar[int] = REEF

    def assess(self, run: RunAnalysis) -> Iterator[Finding | NotAssessed]:
        """One finding for each of L and P; not assessed if it is known of neither."""
        known = [*_said_of_families(run), *_left_to_default(run)]
        families = {one.family for one in run.options if one.family is not None}
        if not known and families != {DEFAULT_FAMILY}:  # an OSD with that one alone is R07's
            yield NotAssessed(self.code, self.title, "show-sharding, or flushes of L and P for full write buffers")
        for one in known:
            merged = parse_size(one.value)
            if merged is not None and merged < LEAST_MERGED:
                yield self._finding(run, one)

    def _finding(self, run: RunAnalysis, one: OptionInForce) -> Finding:
        advised = resharding(run)
        told = {other.family: other for other in run.options if other.name == BUFFERS}
        limit = told.get(one.family) or told.get(DEFAULT_FAMILY)
        buffers = None if limit is None else parse_size(limit.value)
        # RocksDB lowers the number to max_write_buffer_number - 1: resharding alone then does not help.
        is_capped = buffers is not None and buffers <= LEAST_MERGED
        release = limit.default if limit is not None and is_capped else None
        wider = () if release is None else (OptionChange(BUFFERS, release),)
        before = f"first let {BUFFERS} ({buffers}) be the release's again; then " if is_capped else ""
        return Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM if is_capped else Confidence.HIGH,
            meaning=f"{one.family} flushes after {one.value} write buffers; keys written and soon removed reach level 0"
            " and are rewritten by compactions",
            value=f"{MERGE} {one.value}",
            threshold=str(LEAST_MERGED),
            threshold_source="Ceph PR 51821; bluestore_rocksdb_cfs since 18",
            evidence=(Evidence(one.source.value, f"{one.family}: {MERGE}={one.value} {one.detail}".rstrip()),),
            column_family=one.family,
            advice=f"{before}reshard to the text of {advised.release or 'the release'}, one OSD at a time",
            changes=(*advised.changes, *wider),
            risk="the OSD is down meanwhile; if interrupted, it does not start until reshard is run again",
            check=f'{show_sharding(run)}; flushes of {one.family} for "Write Buffer Full" merge {LEAST_MERGED}',
        )


def _said_of_families(run: RunAnalysis) -> Iterator[OptionInForce]:
    """The option of L and P where it is known of them, not only of the default family."""
    stored = parse_show_sharding(run.beside.sharding_output or "")
    for one in run.options:
        if one.name == MERGE and one.family is not None and one.family.partition("-")[0] in SHORT_LIVED:
            is_stored = stored is not None and stored.column_of(one.family) is not None
            if is_stored or one.source in OF_THE_FAMILY:
                yield one


def _left_to_default(run: RunAnalysis) -> Iterator[OptionInForce]:
    """The option of families the stored text names and the log does not: the eleventh and twelfth, before a flush."""
    stored = parse_show_sharding(run.beside.sharding_output or "")
    in_log = {one.family for one in run.options}
    of_default = value_of(run.options, DEFAULT_FAMILY, MERGE)
    for column in stored.columns if stored is not None else ():
        value = column.options.get(MERGE, of_default)
        detail = "" if MERGE in column.options else "of the default family; the text has none"
        if column.prefix in SHORT_LIVED and value is not None:
            for family in column.families:
                if family not in in_log:
                    yield OptionInForce(family, MERGE, value, Source.SHARDING, detail=detail)
