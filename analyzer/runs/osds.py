"""The OSD a run is of: its number, its release, and how commands name it.

Commands are those of an OSD from packages; one that cephadm or rook runs is stopped by these, and the tools then run
inside its container (`cephadm shell --name osd.N`), where the store's path is the same.
"""

import re

from lsmlens.analyzer.runs.run import Run

# The first Ceph version that shards a database unless told otherwise, and the first with the options tuned in 2022.
PACIFIC = 16
REEF = 18

# 18.2.7, 11.0.0-1688-g3fcc89c
VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?")
# osd.3, host/osd.3
OSD_NAME = re.compile(r"(?:.*/)?osd\.(\d+)")
ANY_NUMBER = "N"
# What an OSD is called whose files do not say which it is.
UNNAMED = "osd"


def is_osd(run: Run) -> bool:
    """Whether the database is an OSD's: its log names a Ceph version or an OSD, and it is no monitor's."""
    if run.is_monitor:
        return False
    name = run.name.rsplit("/", 1)[-1]
    return run.ceph_version is not None or name == UNNAMED or OSD_NAME.fullmatch(name) is not None


def ceph_release(run: Run) -> tuple[int, int, int] | None:
    """The Ceph version as numbers, (18, 2, 7); None where the log does not say it."""
    match = VERSION.match(run.ceph_version or "")
    return None if match is None else (int(match[1]), int(match[2]), int(match[3] or 0))


def osd_number(run: Run) -> str:
    """The OSD's number, `N` where its name does not say it."""
    match = OSD_NAME.fullmatch(run.name)
    return ANY_NUMBER if match is None else match[1]


def store_path(run: Run) -> str:
    """Where the OSD's store stands unless it was put elsewhere."""
    return f"/var/lib/ceph/osd/ceph-{osd_number(run)}"


def while_stopped(run: Run, *commands: str) -> tuple[str, ...]:
    """These commands, and what stops the OSD before and starts it behind them, without moving its data away."""
    number = osd_number(run)
    return (
        f"ceph osd ok-to-stop osd.{number}",
        "ceph osd set noout",
        f"systemctl stop ceph-osd@{number}    # cephadm: ceph orch daemon stop osd.{number}",
        *commands,
        f"systemctl start ceph-osd@{number}    # cephadm: ceph orch daemon start osd.{number}",
        "ceph osd unset noout",
    )
