"""`lsmlens explain`: what a finding or a metric means, by its code or name."""

from difflib import get_close_matches
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.cli import completion
from lsmlens.cli.commands import examples, paragraphs
from lsmlens.cli.streams import print_result, terminal_width

if TYPE_CHECKING:
    from lsmlens.analyzer.metrics import Metric

app = typer.Typer(add_completion=False)
EXAMPLES = examples("lsmlens explain", "lsmlens explain R01", "lsmlens explain write_amp")


@app.command(epilog=EXAMPLES)
def explain(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="CODE|METRIC",
            help="A finding's code, such as R01, or a metric's name, such as write_amp; all are listed without.",
            autocompletion=completion.codes_and_metrics,
        ),
    ] = None,
) -> None:
    """Prints a rule: what it looks for, its threshold, advice and risk. Or a metric: its formula, unit and source."""
    from lsmlens.analyzer import rules
    from lsmlens.analyzer.metrics import METRICS, metric_named
    from lsmlens.analyzer.qos import rules as qos_rules

    known = (*rules.RULES, *qos_rules.RULES)
    if name is None:
        width = max(len(metric.name) for metric in METRICS)
        lines = [f"{rule.code}  {rule.title}" for rule in known]
        lines += [f"{metric.name:{width}}  {metric.label}{_also(metric)}" for metric in METRICS]
        print_result("\n".join(lines) + "\n")
        return
    if (rule := rules.rule_of(name) or qos_rules.rule_of(name)) is not None:
        print_result(_folded([f"{rule.code}  {rule.title}", *paragraphs(rule.__doc__ or "")], "\n\n"))
    elif (metric := metric_named(name)) is not None:
        print_result(_meaning(metric))
    else:
        names = [*(rule.code for rule in known), *(one for metric in METRICS for one in (metric.name, *metric.aliases))]
        near = get_close_matches(name, names, 3)
        raise LsmlensError(
            f"{name}: no such rule or metric",
            f"did you mean {' or '.join(near)}?" if near else "lsmlens explain lists all of them",
        )


def _also(metric: "Metric") -> str:
    return f" (also {', '.join(metric.aliases)})" if metric.aliases else ""


def _meaning(metric: "Metric") -> str:
    """A metric in words."""
    told = {
        "Unit": metric.unit,
        "Formula": metric.how,
        "Leaves out": metric.leaves_out,
        "Source": metric.source,
        "Better": metric.better,
        "Gates also call it": ", ".join(metric.aliases),
    }
    lines = [f"{name}: {text}" for name, text in told.items() if text]
    return f"{metric.name}  {metric.label}\n\n" + _folded(lines, "\n")


def _folded(said: list[str], between: str) -> str:
    """Paragraphs within the terminal's width, and within that of sentences elsewhere."""
    from lsmlens.reports.terminal import WIDTH

    width = min(WIDTH, terminal_width() or WIDTH)
    return between.join(fill(one, width, break_long_words=False, break_on_hyphens=False) for one in said) + "\n"
