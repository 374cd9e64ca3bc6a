"""What can go wrong, as two classes: the library raises them, the command line alone catches them."""

from lsmlens.analyzer.printable import printable

LONGEST = 600  # characters: a path, a value and what is wrong with it
LONGEST_HINT = 4000  # a list of all there is, such as the metrics of gates


class LsmlensError(Exception):
    """The root of every error lsmlens raises on purpose.

    `hint` says the way out, for the second line a person sees. Both are one line, whatever was quoted in them.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(_line(message))
        self.hint = _line(hint, LONGEST_HINT)


class InputError(LsmlensError):
    """Nothing usable could be read from what was given: the path, and why."""

    def __init__(self, path: str, reason: str, hint: str = "") -> None:
        super().__init__(f"{path}: {reason}", hint)
        self.path = path
        self.reason = reason


def _line(text: str, longest: int = LONGEST) -> str:
    """The text on one line that a person can read, the middle of a very long one left out."""
    line = printable(" ".join(text.split()) if "\n" in text or "\t" in text else text)
    return line if len(line) <= longest else f"{line[: longest // 2]} … {line[-longest // 2 :]}"
