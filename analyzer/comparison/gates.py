"""Gates: limits that arms must keep, as a person types them.

    write_amp:+10%           more than 10 % above the baseline fails
    client_iops.fio.randw.write:-5%    more than 5 % below it
    stall_seconds:>0         above 0 fails, in any arm but the baseline; also >=, <, <=

A figure that is not known cannot be said to keep a limit: it fails, and says so.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from lsmlens.analyzer.comparison.comparison import Comparison, MetricRow, resolve
from lsmlens.analyzer.comparison.verdicts import Judgement, Verdict
from lsmlens.analyzer.comparison.work import change
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.analyzer.metrics import METRICS, of_part

_RELATIVE = re.compile(r"([+-])\s*(\d+(?:\.\d+)?)\s*%")
_ABSOLUTE = re.compile(r"(>=|<=|>|<)\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)")
HINT = "use METRIC:+10%, METRIC:-5%, METRIC:>0, or with >=, <, <="


@dataclass(frozen=True, slots=True)
class Gate:
    """One limit. `metric` is a metric's name, `sign` one of + - > >= < <=, `amount` per cent for the first two."""

    text: str
    metric: str
    sign: str
    amount: float

    def is_failed(self, baseline: float | None, value: float) -> bool:
        """Whether a value is beyond the limit; `baseline` is needed for a relative one."""
        if self.sign in "+-":
            assert baseline is not None
            share = self.amount / 100
            return value > baseline * (1 + share) if self.sign == "+" else value < baseline * (1 - share)
        return {
            ">": value > self.amount,
            ">=": value >= self.amount,
            "<": value < self.amount,
            "<=": value <= self.amount,
        }[self.sign]


@dataclass(frozen=True, slots=True)
class GateResult:
    """What a gate says of one arm, with the reason in words."""

    gate: Gate
    arm: str
    is_failed: bool
    reason: str


def parse_gate(text: str) -> Gate:
    """The gate that `METRIC:LIMIT` says. Raises LsmlensError for a form or a metric that is not known.

    Whether there is a column family or client's job of that name, `judge_gates` says.
    """
    name, _, limit = text.rpartition(":")
    relative, absolute = _RELATIVE.fullmatch(limit.strip()), _ABSOLUTE.fullmatch(limit.strip())
    match = relative or absolute
    if not name or match is None:
        raise LsmlensError(f"--fail-if: not a gate: {text}", HINT)
    metric = resolve(name.strip())
    if of_part(metric) is None and all(metric != known.name for known in METRICS):
        raise _unknown(name, [one for known in METRICS for one in (known.name, *known.aliases)])
    return Gate(text, metric, match[1], float(match[2]))


def judge_gates(gates: Sequence[Gate], comparison: Comparison) -> tuple[GateResult, ...]:
    """What each gate says of each arm but the baseline.

    Raises LsmlensError for a part of a metric, such as a column family, that no arm has.
    """
    results: list[GateResult] = []
    for gate in gates:
        row = comparison.row(gate.metric)
        if row is None and "." in gate.metric:
            kind = gate.metric.partition(".")[0]
            raise _unknown(
                gate.metric, [name for row in comparison.rows if (name := row.metric.name).startswith(f"{kind}.")]
            )
        for place, arm in enumerate(comparison.names[1:], 1):
            results.append(_judge(gate, comparison.names[0], arm, row, place))
    return tuple(results)


def _judge(gate: Gate, baseline: str, arm: str, row: MetricRow | None, place: int) -> GateResult:
    values = row.values if row is not None else (None,) * (place + 1)
    before, value = values[0], values[place]
    is_relative = gate.sign in "+-"
    unknown = arm if value is None else baseline if is_relative and before is None else None
    if value is None or unknown is not None:
        return GateResult(gate, arm, True, f"{gate.metric} is not known of {unknown}: {gate.text} cannot be judged")
    against = f", {_difference(before, value)} {baseline}'s {before:.6g}" if before is not None and is_relative else ""
    judgement = row.judgements[place] if row is not None else None
    limit = gate.text.rpartition(":")[2].strip()
    reason = f"{gate.metric} of {arm} is {value:.6g}{against}; the limit is {limit}{_sureness(judgement)}"
    return GateResult(gate, arm, gate.is_failed(before, value), reason)


def _difference(before: float, value: float) -> str:
    if not before:
        return "as" if value == before else "against"
    return f"{change(value / before)} to"


def _sureness(judgement: Judgement | None) -> str:
    """What a person should know who reads of a limit that was broken or kept by chance."""
    if judgement is None:
        return ""
    if judgement.verdict is Verdict.NOT_COMPARABLE:
        return f" (not comparable: {judgement.reason})"
    if judgement.verdict is not Verdict.NOT_SIGNIFICANT:
        return ""
    return " (noise unknown)" if judgement.reason.startswith("noise unknown") else " (not significant)"


def _unknown(name: str, known: Sequence[str]) -> LsmlensError:
    guess = "".join(f"did you mean {one}? " for one in get_close_matches(name, known, 1))
    return LsmlensError(f"--fail-if: no metric {name}", f"{guess}there are {', '.join(known)}")
