"""`lsmlens explain`: what a finding means, by its code."""

import argparse
from inspect import cleandoc
from typing import TYPE_CHECKING

from lsmlens.analyzer.errors import LsmlensError

if TYPE_CHECKING:
    from lsmlens.cli.parser import Parser


def add_to(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the command to the command line."""
    command = commands.add_parser(
        "explain",
        help="what a finding means",
        description="Prints a rule: what it looks for, its threshold, advice and risk.",
    )
    command.add_argument(
        "code", metavar="CODE", nargs="?", help="the finding's code, such as R01; all are listed without"
    )
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """Print one rule, or list all."""
    from lsmlens.analyzer import rules
    from lsmlens.analyzer.qos import rules as qos_rules

    known = (*rules.RULES, *qos_rules.RULES)
    if options.code is None:
        for rule in known:
            print(f"{rule.code}  {rule.title}")
        return 0
    found = rules.rule_of(options.code) or qos_rules.rule_of(options.code)
    if found is None:
        raise LsmlensError(f"{options.code}: no such rule", f"there are {', '.join(rule.code for rule in known)}")
    print(f"{found.code}  {found.title}\n\n{cleandoc(found.__doc__ or '')}")
    return 0
