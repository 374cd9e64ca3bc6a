"""`lsmlens explain`: what a finding means, by its code."""

from inspect import cleandoc
from typing import Annotated

import typer
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.cli import completion
from lsmlens.cli.commands import examples
from lsmlens.cli.streams import print_result

app = typer.Typer(add_completion=False)
EXAMPLES = examples("lsmlens explain", "lsmlens explain R01", "lsmlens explain q08 | less")


@app.command(epilog=EXAMPLES)
def explain(
    code: Annotated[
        str | None,
        typer.Argument(
            metavar="CODE",
            help="The finding's code, such as R01; all are listed without.",
            autocompletion=completion.finding_codes,
        ),
    ] = None,
) -> None:
    """Prints a rule: what it looks for, its threshold, advice and risk."""
    from lsmlens.analyzer import rules
    from lsmlens.analyzer.qos import rules as qos_rules

    known = (*rules.RULES, *qos_rules.RULES)
    if code is None:
        print_result("".join(f"{rule.code}  {rule.title}\n" for rule in known))
        return
    found = rules.rule_of(code) or qos_rules.rule_of(code)
    if found is None:
        raise LsmlensError(f"{code}: no such rule", f"there are {', '.join(rule.code for rule in known)}")
    print_result(f"{found.code}  {found.title}\n\n{cleandoc(found.__doc__ or '')}\n")
