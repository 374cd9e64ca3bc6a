"""The files that `lsmlens workload -o` writes, by suffix."""

from lsmlens.reports.output_files import Output, Writer
from lsmlens.tuners.estimation.fit import FittedWorkload


def _yaml(fitted: FittedWorkload, output: Output) -> None:
    from lsmlens.tuners.workloads.yaml_form import to_yaml

    output.path.write_text(to_yaml(fitted.workload), encoding="utf-8")


def _text(fitted: FittedWorkload, output: Output) -> None:
    from lsmlens.reports.workload_text import render

    output.path.write_text(render(fitted), encoding="utf-8")


WRITERS: dict[str, Writer[FittedWorkload]] = {".yaml": _yaml, ".yml": _yaml, ".txt": _text}
