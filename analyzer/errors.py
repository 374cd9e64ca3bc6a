"""What can go wrong, as two classes: the library raises them, the command line alone catches them."""


class LsmlensError(Exception):
    """The root of every error lsmlens raises on purpose.

    `hint` says the way out, for the second line a person sees.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class InputError(LsmlensError):
    """Nothing usable could be read from what was given: the path, and why."""

    def __init__(self, path: str, reason: str, hint: str = "") -> None:
        super().__init__(f"{path}: {reason}", hint)
        self.path = path
        self.reason = reason
