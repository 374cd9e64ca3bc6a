"""What the shell completes: presets, codes of findings, metrics, engine versions. Each imports only what it lists."""

import os
import re
from collections.abc import Callable, Iterator, Sequence

ASKED_FOR = "_LSMLENS_COMPLETE"
BREAKS = re.compile(r"[:=]+")


def know_words_of_bash() -> None:
    """Have bash complete words such as `fast=ceph:quincy`.

    It hands on the pieces between `:` and `=` (COMP_WORDBREAKS), and puts what it is given in place of the last one.
    """
    from typer._click.shell_completion import CompletionItem, add_completion_class
    from typer._completion_classes import BashComplete

    class WholeWords(BashComplete):
        def get_completion_args(self) -> tuple[list[str], str]:
            given = os.environ["COMP_WORDS"].split("\n")[: int(os.environ["COMP_CWORD"]) + 1]
            whole, last = given[:1], ""
            for word in given[1:]:
                if BREAKS.fullmatch(word) or BREAKS.fullmatch(last):
                    whole[-1] += word
                else:
                    whole.append(word)
                last = word
            self.kept = 0 if BREAKS.fullmatch(last) else len(last)
            return whole[1:-1], whole[-1]

        def format_completion(self, item: CompletionItem) -> str:
            _, word = self.get_completion_args()
            if word.startswith("--"):  # --options=ceph:quincy: an item is the value alone
                word = word.partition("=")[2] or word
            return str(item.value)[len(word) - self.kept :]

    add_completion_class(WholeWords, "bash")


def words(known: Sequence[str]) -> Callable[[str], Iterator[str]]:
    """What completes one of these words."""

    def beginning(incomplete: str) -> Iterator[str]:
        yield from (one for one in known if one.startswith(incomplete))

    return beginning


def option_presets(incomplete: str) -> Iterator[str]:
    """Presets of options that begin like this, with the name before `=` kept."""
    from lsmlens.tuners.options.presets import preset_names

    name, equals, begun = incomplete.rpartition("=")
    yield from (f"{name}{equals}{one}" for one in preset_names() if one.startswith(begun))


def workload_presets(incomplete: str) -> Iterator[str]:
    """Presets of workloads that begin like this."""
    from lsmlens.tuners.workloads.presets import preset_names

    yield from (one for one in preset_names() if one.startswith(incomplete))


def engine_versions(incomplete: str) -> Iterator[str]:
    """RocksDB versions that are here, or that a release of Ceph has."""
    from lsmlens.tuners.engines.library import installed_libraries, system_libraries
    from lsmlens.tuners.options.presets import ROCKSDB_VERSIONS

    known = {one.version for one in (*installed_libraries(), *system_libraries())} | {*ROCKSDB_VERSIONS.values()}
    yield from (one for one in sorted(known) if one.startswith(incomplete))


def installed_versions(incomplete: str) -> Iterator[str]:
    """RocksDB versions that are here."""
    from lsmlens.tuners.engines.library import installed_libraries, system_libraries

    known = {one.version for one in (*installed_libraries(), *system_libraries())}
    yield from (one for one in sorted(known) if one.startswith(incomplete))


def finding_codes(incomplete: str) -> Iterator[tuple[str, str]]:
    """Codes of findings that begin like this, each with its title."""
    from lsmlens.analyzer import rules
    from lsmlens.analyzer.qos import rules as qos_rules

    known = (*rules.RULES, *qos_rules.RULES)
    yield from ((rule.code, rule.title) for rule in known if rule.code.startswith(incomplete))


def metrics(incomplete: str) -> Iterator[tuple[str, str]]:
    """Metrics that begin like this, each with its label."""
    from lsmlens.analyzer.metrics import METRICS

    names = [(name, metric.label) for metric in METRICS for name in (metric.name, *metric.aliases)]
    yield from ((name, label) for name, label in names if name.startswith(incomplete))


def codes_and_metrics(incomplete: str) -> Iterator[tuple[str, str]]:
    """What `lsmlens explain` takes and begins like this."""
    yield from finding_codes(incomplete)
    yield from metrics(incomplete)
