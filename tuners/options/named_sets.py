"""Several sets of options, each under a name of its own: as given one by one, or one a line of a file."""

from collections.abc import Sequence
from pathlib import Path

from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.reading import read_options

CANDIDATES_HINT = "one set of options a line, as for predict"


def read_option_set(text: str | OptionSet, own: OptionSet | None) -> OptionSet:
    """The set that `text` stands for, over a log's `own` options if there is one; or the set itself.

    Raises InputError for text that stands for none, and where the log's database cannot have the set.
    """
    one = read_options(text, own) if isinstance(text, str) else text
    if own is not None:
        one.validate(own.families, own.rocksdb_version)
    return one


def read_option_sets(texts: Sequence[str | OptionSet], own: OptionSet | None = None) -> list[OptionSet]:
    """The sets, in their order; one whose name is taken becomes `NAME#2` and so on.

    Raises InputError as `read_option_set` does.
    """
    sets: list[OptionSet] = []
    for text in texts:
        one = read_option_set(text, own)
        taken = {other.name for other in sets}
        name, number = one.name, 1
        while name in taken:
            number += 1
            name = f"{one.name}#{number}"
        sets.append(one.named(name))
    return sets


def read_candidates(path: str, own: OptionSet) -> list[OptionSet]:
    """The sets of a file, one a line, over a log's `own` options; empty lines and those that begin with # are none.

    A set whose name is taken, or is `current`, becomes `NAME (line N)`. Raises InputError, with the line's number.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, f"cannot be read: {error}", CANDIDATES_HINT) from error
    sets: list[OptionSet] = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            one = read_option_set(text, own)
        except InputError as error:
            raise InputError(f"{path}:{number}", str(error), CANDIDATES_HINT) from error
        if one.name in {other.name for other in sets} | {"current"}:
            one = one.named(f"{one.name} (line {number})")
        sets.append(one)
    return sets
