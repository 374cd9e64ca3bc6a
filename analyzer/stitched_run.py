"""A run out of the pieces of one daemon's log: stitched, and with what the pieces say beside their records."""

from collections.abc import Sequence

from lsmlens.analyzer.pieces import Piece, joined, overlap
from lsmlens.analyzer.roles import Role
from lsmlens.analyzer.run import Run
from lsmlens.analyzer.scan import Scan
from lsmlens.analyzer.scanner import SAMPLES
from lsmlens.analyzer.stitching import Stitcher


def stitched(pieces: Sequence[Piece]) -> Run:
    """The run that pieces in their order make."""
    scans = list({id(piece.scan): piece.scan for piece in pieces}.values())
    run = Run(
        name=_run_name(pieces),
        is_monitor=any(piece.role is Role.MONITOR_LOG for piece in pieces),
        members=[scan.member for scan in scans],
    )
    bridges: list[Scan] = []
    Stitcher(run, overlap(pieces)).stitch(joined(pieces, bridges))
    for piece in pieces:
        run.stamps.merge(piece.stamps)
    for scan in bridges:
        run.stamps.merge(scan.stamps_of(pieces[0].source))
    _add_texts(run, pieces)
    for scan in (*scans, *bridges):
        run.stall_places = {**scan.stall_places, **run.stall_places}
        for what, place in scan.slow_places.items():
            run.slow_places[what] = max(place, run.slow_places.get(what, place), key=lambda one: one[0])
        for what, places in scan.error_places.items():
            run.error_places.setdefault(what, []).extend(places)
        _add_quality(run, scan)
        run.rocksdb_version = scan.rocksdb_version or run.rocksdb_version
        run.ceph_version = scan.ceph_version or run.ceph_version
        if run.utc_offset_seconds is None:
            run.utc_offset_seconds = scan.utc_offset_seconds
    if run.sessions:
        run.rocksdb_version = run.sessions[-1].rocksdb_version or run.rocksdb_version
        run.ceph_version = run.sessions[-1].ceph_version or run.ceph_version
    if run.stamps.first is None:
        _cover_events(run)
    return run


def _add_texts(run: Run, pieces: Sequence[Piece]) -> None:
    """The statistics dumps, each once, and the options as they were last printed."""
    seen: set[int] = set()
    for piece in pieces:
        for millis, text in piece.scan.dumps.get(piece.source, ()):
            if millis is None or millis not in seen:
                seen.add(millis or 0)
                run.dumps.append((millis, text))
        run.options_text = piece.scan.options_text.get(piece.source) or run.options_text


def _cover_events(run: Run) -> None:
    """Without stamps that are its own, a run lasts from its first event to its last."""
    if run.first_event_micros is not None and run.last_event_micros is not None:
        offset = (run.utc_offset_seconds or 0) * 1000
        run.stamps.first = run.first_event_micros // 1000 + offset
        run.stamps.last = run.last_event_micros // 1000 + offset


def _add_quality(run: Run, scan: Scan) -> None:
    quality = run.quality
    quality.bytes += scan.bytes
    quality.lines += scan.lines
    quality.lines_are_estimated |= scan.lines_are_estimated
    quality.cut_lines += scan.cut_lines
    if scan.damage is not None:
        quality.damaged.append(scan.damage)
    quality.events_rejected += scan.events_rejected
    quality.events_cut += scan.events_cut
    quality.unknown_fields += scan.unknown_fields
    quality.impossible_values += scan.impossible_values
    quality.not_understood = (quality.not_understood + scan.not_understood)[:SAMPLES]


def _run_name(pieces: Sequence[Piece]) -> str:
    daemon = next((piece.daemon for piece in pieces if piece.daemon), None)
    if daemon is not None:
        return daemon
    return pieces[0].source or pieces[0].stem or pieces[0].name
