"""The ways to a cluster: words that go before a command, so that it runs where it can be answered.

`ceph` asks monitors, and OSDs by `tell`; `cephadm shell` does so where only cephadm is installed, `kubectl exec` from
rook's toolbox. What only an OSD's own host can tell (its log, its admin socket, its store while it is down) is asked
there: on this machine, through `ssh` if that is wanted, or in the OSD's pod.
"""

import shlex
import shutil
import socket
from dataclasses import dataclass
from typing import Final

from lsmlens.analyzer.errors import LsmlensError

NAMESPACE: Final = "rook-ceph"
WAYS: Final = ("ceph", "cephadm", "kubectl")
Command = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Osd:
    """An OSD to ask: its number, its host where known, and whether it is up."""

    number: int
    host: str | None
    is_up: bool

    @property
    def name(self) -> str:
        """`osd.3`."""
        return f"osd.{self.number}"


@dataclass(frozen=True, slots=True)
class Access:
    """One way to a cluster, by its name in WAYS."""

    way: str
    namespace: str = NAMESPACE
    ssh: bool = False

    def cluster(self, *words: str) -> Command:
        """A command of `ceph`."""
        if self.way == "cephadm":
            return ("cephadm", "shell", "--", "ceph", *words)
        if self.way == "kubectl":
            return (*self._kubectl(), "exec", "deploy/rook-ceph-tools", "--", "ceph", *words)
        return ("ceph", *words)

    def daemon(self, osd: Osd, *words: str) -> tuple[Command, ...]:
        """A command that an OSD answers: through the cluster, or else, where that can be had, at its admin socket."""
        asked = self.cluster("tell", osd.name, *words)
        socket_words = ("ceph", "daemon", osd.name, *words)
        if self.way == "kubectl":
            return asked, (*self._pod(osd), *socket_words)
        if self.way == "cephadm" and self.is_here(osd):
            return asked, ("cephadm", "enter", "--name", osd.name, "--", *socket_words)
        at_host = self.at_host(osd, *socket_words)
        return (asked,) if at_host is None else (asked, at_host)

    def at_host(self, osd: Osd, *command: str) -> Command | None:
        """A command on an OSD's host; None where there is no way to it."""
        if self.is_here(osd):
            return command
        if self.ssh and osd.host is not None:
            return ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", osd.host, shlex.join(command))
        return None

    def sharding(self, osd: Osd) -> Command | None:
        """What tells the sharding of an OSD that is down."""
        if self.way == "kubectl":
            return None
        shown = f"--name {osd.name} --show-config-value osd_data"
        usual = f"/var/lib/ceph/osd/ceph-{osd.number}"
        tool = "ceph-bluestore-tool show-sharding --path"
        if self.way == "cephadm":
            return self.at_host(osd, "cephadm", "shell", "--name", osd.name, "--", *tool.split(), usual)
        return self.at_host(osd, "sh", "-c", f'{tool} "$(ceph-conf {shown} 2>/dev/null || echo {usual})"')

    def log_place(self, osd: Osd) -> Command | None:
        """What tells where an OSD's log is, by the configuration of its host."""
        if self.way == "kubectl":
            return None
        return self.at_host(osd, "ceph-conf", "--name", osd.name, "--show-config-value", "log_file")

    def log_files(self, osd: Osd, folder: str | None, minutes: int) -> Command | None:
        """What lists the pieces of an OSD's log that were written to within so many minutes, a path a line."""
        if self.way == "kubectl":
            return None
        folders = " ".join(shlex.quote(one) for one in dict.fromkeys((folder or "/var/log/ceph", "/var/log/ceph")))
        name = f"*osd.{osd.number}.log*"
        return self.at_host(
            osd, "sh", "-c", f"find -L {folders} -maxdepth 2 -type f -name '{name}' -mmin -{minutes} 2>/dev/null || :"
        )

    def journal(self, osd: Osd, minutes: int) -> Command | None:
        """What prints an OSD's log where it goes to a container's or the system's journal."""
        if self.way == "kubectl":
            pod = f"deploy/rook-ceph-osd-{osd.number}"
            return (*self._kubectl(), "logs", pod, "-c", "osd", f"--since={minutes}m")
        units = (f"ceph-osd@{osd.number}.service", f"ceph-*@osd.{osd.number}.service")
        asked = [word for unit in units for word in ("-u", unit)]
        return self.at_host(
            osd, "journalctl", "--no-pager", "-q", "-o", "short-iso-precise", *asked, "--since", f"-{minutes}min"
        )

    def is_here(self, osd: Osd) -> bool:
        """Whether an OSD runs on this machine."""
        return osd.host is not None and _short(osd.host) == _short(socket.gethostname())

    def _kubectl(self) -> Command:
        return ("kubectl", "-n", self.namespace)

    def _pod(self, osd: Osd) -> Command:
        return (*self._kubectl(), "exec", f"deploy/rook-ceph-osd-{osd.number}", "-c", "osd", "--")


def _short(host: str) -> str:
    return host.partition(".")[0].lower()


def found_access(way: str | None, namespace: str, ssh: bool) -> Access:
    """The way that was asked for, or the first whose program is installed. Raises LsmlensError where there is none."""
    if way is None:
        way = next((one for one in WAYS if shutil.which(one)), None)
    if way is None:
        raise LsmlensError(
            "no ceph, cephadm or kubectl here",
            "run it on a host with the cluster's admin keyring; --print-script gives a shell script",
        )
    return Access(way, namespace, ssh)
