"""What a log says around an open, and when options are set: versions, the daemon, the text of the options."""

from lsmlens.analyzer.bundles.roles import Role, daemon_in
from lsmlens.analyzer.logs import text_lines
from lsmlens.analyzer.logs.records import OpenLine
from lsmlens.analyzer.logs.scan import Scan
from lsmlens.analyzer.logs.stamps import stamp_millis
from lsmlens.analyzer.logs.stretch import Stretch

OPEN_LOOKBACK = 1 << 19
LINE_PREFIX_BYTES = 256
BEFORE_BANNER_BYTES = 1 << 13
OPTIONS_SET_BYTES = 1 << 13
# The column families being recovered, a line each: the only place that names those whose options are not printed.
RECOVERED_BYTES = 1 << 14
FAMILY_OPTIONS_BYTES = 1 << 15
OPTIONS_TEXT_LIMIT = 1 << 20


def take_opening(scan: Scan, stretch: Stretch, start: int, role: Role) -> OpenLine:
    """The open whose column families are being recovered at `start`, with what the lines before it say."""
    stamp = stretch.stamp(start)
    # The stamp and the thread: the same in every copy of the log, however carried, and in its crash dumps.
    words = bytes(stretch.view[stamp.start(1) : start]).split(None, 2) if stamp else []
    identity = b" ".join(words[:2]).decode("utf-8", "replace")
    source = stretch.source(start)
    view, since = stretch.view, max(0, start - OPEN_LOOKBACK)
    recovered = bytes(view[start : min(start + RECOVERED_BYTES, stretch.end)])
    if stretch.shared:  # what the other daemons wrote meanwhile is none of this one's
        view = memoryview(_of_source(bytes(view[since:start]), source))
        since, start = 0, len(view)
        recovered = _of_source(recovered, source)
    version, banner = text_lines.last_version(text_lines.BANNER, view, since, start)
    ceph_version, process = text_lines.last_version(text_lines.CEPH_VERSION, view, since, start)
    session = text_lines.SESSION_ID.search(view, max(banner, since), start)
    scan.options_text[source] = ""
    until_next = text_lines.BANNER.shape.split(recovered, maxsplit=1)[0]
    _take_options(scan, bytes(view[max(0, banner - BEFORE_BANNER_BYTES) : start]) + until_next + b"\n", source)
    if source not in scan.daemons and process >= 0:
        daemon = daemon_in(view[process:start], role)
        if daemon is not None:
            scan.daemons[source] = daemon
    scan.rocksdb_version = scan.rocksdb_version or version
    scan.ceph_version = scan.ceph_version or ceph_version
    if identity:
        scan.opens.add(identity)
    opened_at = stamp_millis(stamp) if stamp else None
    return OpenLine(identity, opened_at, version, ceph_version, session[1].decode() if session else None)


def take_options_set(scan: Scan, stretch: Stretch, start: int) -> None:
    """Keep the lines of SetOptions, whose first is at `start`."""
    text = bytes(stretch.view[stretch.line_start(start) : start + OPTIONS_SET_BYTES])
    _take_options(scan, text, stretch.source(start))


def take_family_options(scan: Scan, stretch: Stretch, start: int, after: int) -> None:
    """Keep the options a family printed when it was created, up to where its creation is told or the next begins."""
    end = text_lines.FAMILY_OPTIONS_END.search(stretch.view, after, after + FAMILY_OPTIONS_BYTES)
    if end is not None:
        text = bytes(stretch.view[stretch.line_start(start) : end.start()])
        _take_options(scan, text, stretch.source(start))


def _of_source(text: bytes, source: str) -> bytes:
    """The lines one daemon wrote, of a log that several share."""
    marker = source.encode()
    return b"".join(line for line in text.splitlines(keepends=True) if marker in line[:LINE_PREFIX_BYTES])


def _take_options(scan: Scan, text: bytes, source: str) -> None:
    kept = scan.options_text.get(source, "") + text.decode("utf-8", "replace")
    scan.options_text[source] = kept[-OPTIONS_TEXT_LIMIT:]
