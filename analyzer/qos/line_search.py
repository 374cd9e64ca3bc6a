"""The second reading of a log, for its lines on scheduling; the first is RocksDB's and has its own anchors."""

from collections import Counter

from lsmlens.analyzer.logs.blocks import Block, Blocks
from lsmlens.analyzer.qos.log_lines import KEPT, KEPT_OTHERWISE, LINE_BYTES, Finder, QosLine, finder, parse_line
from stringzilla import count, find, rfind


class LineSearch:
    """Finds the lines on scheduling of many logs."""

    def __init__(self) -> None:
        self._finder: Finder | None = None

    def lines(self, blocks: Blocks, source: str) -> list[QosLine]:
        """The lines of one log, in its order; of a kind that is said again and again the first so many."""
        if self._finder is None:
            self._finder = finder()
        found: list[QosLine] = []
        kept: Counter[str] = Counter()
        lines_before = 0
        for block in blocks:
            counted = block.begin
            for shape, begin in self._finder(block.view[block.begin : block.end]):
                if kept[shape.kind] >= KEPT.get(shape.kind, KEPT_OTHERWISE):
                    continue
                start, end = _line_around(block, block.begin + begin)
                if start > counted:
                    lines_before += count(block.view[counted:start], b"\n")
                    counted = start
                line = parse_line(shape, bytes(block.view[start:end]), source, lines_before + 1)
                if line is not None:
                    kept[shape.kind] += 1
                    found.append(line)
            lines_before += count(block.view[counted : block.end], b"\n")
        return found


def _line_around(block: Block, place: int) -> tuple[int, int]:
    """Where the line that holds a place of a block begins and ends; cut where it is overlong."""
    least = max(block.begin, place - LINE_BYTES)
    most = min(block.end, place + LINE_BYTES)
    before = rfind(block.view, b"\n", least, place)
    behind = find(block.view, b"\n", place, most)
    return (before + 1 if before >= 0 else least), (behind if behind >= 0 else most)
