"""The pages of the manual that are made of the code: commands, findings, metrics, columns, JSON documents, `man`.

`python -m lsmlens.cli.manual` in a checkout writes them into docs/; a test holds them to what the code says.
"""

import re
from collections.abc import Iterator
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import Any

import msgspec
import typer
from lsmlens.analyzer import rules
from lsmlens.analyzer.metrics import METRICS, Group
from lsmlens.analyzer.qos import rules as qos_rules
from lsmlens.analyzer.rules import Rule
from lsmlens.analyzer.runs.columns import Column, columns_of
from lsmlens.analyzer.runs.jobs import BlobFile, Job, Open, OtherEvent, Stall, Table
from lsmlens.cli.commands import SUMMARIES, command_line, made
from lsmlens.reports.json_form import schemas
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

Rules = tuple[Rule | qos_rules.OsdRule | qos_rules.ClusterRule, ...]

TABLES: dict[str, tuple[type[msgspec.Struct], str]] = {
    "jobs": (
        Job,
        "A row is a flush, compaction or trivial move that finished; `unfinished` has those that only started.",
    ),
    "tables": (Table, "A row is a table file that was created."),
    "blob_files": (BlobFile, "A row is a blob file that was created."),
    "opens": (Open, "A row is an open of the database."),
    "stalls": (Stall, "A row is a line that says writes were slowed down or stopped."),
    "other_events": (OtherEvent, "Events that no other table tells of, and fields of events that have no column."),
}
_TYPES = {"str": "String", "time": "Datetime(us, UTC)"}
_SECTION = re.compile(r"(Evidence|Threshold|Advice|Risk|Check): ")
# What Markdown would read as marks: names such as _kv_sync_thread and level0_file_num_compaction_trigger.
_NAME = re.compile(r"`[^`]+`|[\w.]*\w_\w[\w.]*\w|\b_\w+")
_CODE = re.compile(r"\b[RQ]\d\d\b")
_MARKS = re.compile(r"[<*\[\]]")


def pages() -> Iterator[tuple[str, str]]:
    """The path below docs/ and the text of each page."""
    yield "reference/commands.md", _commands_page()
    yield "lsmlens.1", _man_page()
    known: Rules = (*rules.RULES, *qos_rules.RULES)
    yield "findings/index.md", _findings_page(known)
    for rule in known:
        yield f"findings/{rule.code}.md", _finding_page(rule)
    yield "reference/metrics.md", _metrics_page()
    yield "reference/columns.md", _columns_page()
    yield "reference/json.md", _documents_page()


# Commands


def _commands() -> Iterator[tuple[str, TyperCommand | TyperGroup]]:
    """Every command by its full name, a group before its own."""
    yield "lsmlens", command_line()
    for name in SUMMARIES:
        command = made(import_module(f"lsmlens.cli.{name}").app)
        yield f"lsmlens {name}", command
        if isinstance(command, TyperGroup):
            for sub, one in command.commands.items():
                assert isinstance(one, TyperCommand)
                yield f"lsmlens {name} {sub}", one


def _context(name: str, command: TyperCommand | TyperGroup) -> Any:
    return typer.Context(command, info_name=name, help_option_names=["-h", "--help"])


def _usage(name: str, command: TyperCommand | TyperGroup) -> str:
    return str(command.get_usage(_context(name, command))).removeprefix("Usage: ").strip()


def _parameters(name: str, command: TyperCommand | TyperGroup, kind: type[Any]) -> list[tuple[str, str]]:
    """Arguments or options: how each is written, and what it does."""
    context = _context(name, command)
    records = (one.get_help_record(context) for one in command.get_params(context) if isinstance(one, kind))
    return [(first, " ".join(said.split())) for first, said in filter(None, records)]


def _examples(command: TyperCommand | TyperGroup) -> list[str]:
    return [line.strip() for line in (command.epilog or "").splitlines() if line.startswith("  ")]


def _commands_page() -> str:
    parts = [
        "# Every command",
        "The same as `lsmlens COMMAND --help`, and as `man lsmlens` where the manual page is installed.",
    ]
    for name, command in _commands():
        parts += [f"## {name}", f"```text\n{_usage(name, command)}\n```", _marked(command.help or "")]
        for kind in (TyperArgument, TyperOption):
            if told := _parameters(name, command, kind):
                head = "| argument | |" if kind is TyperArgument else "| option | |"
                lines = [f"| `{_cell(first)}` | {_cell(_marked(said))} |" for first, said in told]
                parts.append("\n".join([head, "|---|---|", *lines]))
        if lines := _examples(command):
            parts.append("```sh\n" + "\n".join(lines) + "\n```")
    return "\n\n".join(parts) + "\n"


def _man_page() -> str:
    """All commands as a page for man(1), in the macros of man(7)."""
    (_, whole), *others = _commands()
    summary, *rest = cleandoc(whole.help or "").split("\n\n")
    lines = [
        '.TH LSMLENS 1 "" lsmlens "User Commands"',
        ".SH NAME",
        f"lsmlens \\- {_troff(summary)}",
        ".SH SYNOPSIS",
        ".B lsmlens",
        "COMMAND [OPTIONS] [ARGS]",
        ".SH DESCRIPTION",
        *_paragraphs(rest),
        ".SH COMMANDS",
    ]
    for name, command in others:
        lines += [f".SS {_troff(name)}", f".B {_troff(_usage(name, command))}", ".PP"]
        lines += _paragraphs(cleandoc(command.help or "").split("\n\n"))
        for kind in (TyperArgument, TyperOption):
            for first, said in _parameters(name, command, kind):
                lines += [".TP", f".B {_troff(first)}", _troff(said)]
        if examples := _examples(command):
            lines += [".PP", "Examples:", ".PP", ".nf", *(f"  {_troff(line)}" for line in examples), ".fi"]
    return "\n".join(lines) + "\n"


def _paragraphs(texts: list[str]) -> Iterator[str]:
    for text in texts:
        yield from (_troff(" ".join(text.split())), ".PP")


def _troff(text: str) -> str:
    """Text that troff sets as it stands."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


# Findings and metrics


def _findings_page(known: Rules) -> str:
    parts = ["# Findings", "`lsmlens explain CODE` prints the same on a terminal."]
    for title, letter in (("RocksDB and the OSD", "R"), ("The op scheduler", "Q")):
        lines = [f"| [{one.code}]({one.code}.md) | {one.title} |" for one in known if one.code.startswith(letter)]
        parts.append("\n".join([f"## {title}\n\n| code | finding |", "|---|---|", *lines]))
    return "\n\n".join(parts) + "\n"


def _finding_page(rule: Rule | qos_rules.OsdRule | qos_rules.ClusterRule) -> str:
    """A rule's docstring: its sections as headings."""
    parts = [f"# {rule.code}: {rule.title}"]
    for paragraph in cleandoc(rule.__doc__ or "").split("\n\n"):
        text = " ".join(paragraph.split())
        if (section := _SECTION.match(text)) is not None:
            parts.append(f"## {section[1]}")
            text = text[section.end() :]
            text = text[:1].upper() + text[1:]
        parts.append(_CODE.sub(r"[\g<0>](\g<0>.md)", _marked(text)))
    return "\n\n".join(parts) + "\n"


def _metrics_page() -> str:
    parts = [
        "# Metrics",
        "`--fail-if`, `lsmlens explain` and the JSON documents use these names. A gate also takes the shorter ones.",
    ]
    for group in Group:
        lines = [
            f"| `{one.name}` | {', '.join(f'`{alias}`' for alias in one.aliases)} | {one.unit} | {one.better} |"
            f" {_cell(_marked(one.how))}{f'; leaves out {_cell(_marked(one.leaves_out))}' if one.leaves_out else ''} |"
            for one in METRICS
            if one.group is group
        ]
        if lines:
            title = group.value[:1].upper() + group.value[1:]
            head = "| metric | in short | unit | better | how it is computed |"
            parts.append("\n".join([f"## {title}\n\n{head}", "|---|---|---|---|---|", *lines]))
    return "\n\n".join(parts) + "\n"


# Dictionaries


def _columns_page() -> str:
    """What each column of a run's tables and of the Parquet files holds."""
    parts = [
        "# Columns of the tables and Parquet files",
        "From Python: `analysis.run(NAME).jobs` and so on. As files: `-o jobs.parquet`, `-o x.tables.parquet`,"
        " `-o x.blobs.parquet`, `-o x.events.parquet`.",
    ]
    for name, (row, said) in TABLES.items():
        lines = [
            f"| `{column}` | {_type(of)} | {of.unit} | {_cell(_marked(of.meaning))} |"
            for column, of in columns_of(row).items()
        ]
        parts.append(
            "\n".join([f"## {name}\n\n{said}\n\n| column | type | unit | meaning |", "|---|---|---|---|", *lines])
        )
    return "\n\n".join(parts) + "\n"


def _type(column: Column) -> str:
    return "Enum" if column.values else _cell(_marked(_TYPES.get(column.type, column.type)))


def _documents_page() -> str:
    """Every field of every JSON document, by its schema."""
    parts = [
        "# JSON documents",
        "What `--format json` prints and `-o FILE.json` writes. Each document names its schema in the field `schema`."
        " The JSON Schemas are in the package, in `lsmlens/reports/schemas`. Fields with `?` may be missing.",
    ]
    for file, text in schemas():
        schema, document = msgspec.json.decode(text), file.removesuffix(".json")
        parts.append(f"## {document}\n\nWritten by `{schema['title'].removesuffix(' --format json')}`.")
        for name, said in schema["$defs"].items():
            if "properties" in said:
                head = f"### {name} {{ #{_anchor(document, name)} }}\n\n{_marked(said.get('description', ''))}"
                lines = _fields(document, said)
                parts.append("\n".join([f"{head}\n\n| field | type | meaning |", "|---|---|---|", *lines]))
    return "\n\n".join(parts) + "\n"


def _fields(document: str, said: dict[str, Any]) -> Iterator[str]:
    required = set(said.get("required", ()))
    for field, of in said["properties"].items():
        name = field if field in required else f"{field}?"
        yield f"| `{name}` | {_kind(document, of)} | {_cell(_marked(of.get('description', '')))} |"


def _anchor(document: str, name: str) -> str:
    return f"{document}-{name.lower()}"


def _kind(document: str, said: dict[str, Any]) -> str:
    """The type of a field in a word or two."""
    if "$ref" in said:
        name = str(said["$ref"]).rsplit("/", 1)[-1]
        return f"[{name}](#{_anchor(document, name)})" if name.endswith("Json") else name
    if "anyOf" in said:
        return " or ".join(dict.fromkeys(_kind(document, one) for one in said["anyOf"]))
    if "enum" in said or "const" in said:
        values = [one for one in said.get("enum", [said.get("const")]) if one is not None]
        return "one of " + ", ".join(f"`{one}`" for one in values) if len(values) > 1 else f"`{values[0]}`"
    kind = said.get("type", "any")
    if isinstance(kind, list):
        return " or ".join(_kind(document, said | {"type": one}) for one in kind)
    if kind == "array":
        return f"list of {_kind(document, said['items'])}" if isinstance(said.get("items"), dict) else "list"
    if kind == "object" and isinstance(said.get("additionalProperties"), dict):
        return f"map to {_kind(document, said['additionalProperties'])}"
    return str(kind)


def _marked(text: str) -> str:
    """Text as Markdown: names as code, marks as themselves."""
    pieces, end = [], 0
    for name in _NAME.finditer(text):
        pieces += [_MARKS.sub(r"\\\g<0>", text[end : name.start()]), f"`{name[0].strip('`')}`"]
        end = name.end()
    return "".join([*pieces, _MARKS.sub(r"\\\g<0>", text[end:])])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    for path, text in pages():
        page = Path(__file__).resolve().parents[1] / "docs" / path
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
