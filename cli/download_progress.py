"""How far a download is, on standard error."""

from lsmlens.cli.progress_line import ProgressLine


class DownloadProgress(ProgressLine):
    """Says what is fetched and how far it is."""

    def __init__(self, what: str, quiet: bool = False) -> None:
        super().__init__(quiet)
        self._what = what

    def advance(self, here: int, total: int) -> None:
        """Note that `here` of `total` bytes have come."""
        if self._is_due():
            share = 100 * here // max(total, 1)
            self._draw(f"fetching {self._what} {share:3d} %  {here >> 20} of {total >> 20} MiB")
