"""Commands that change how an OSD schedules, ready to paste, and those that take a change back."""


def set_option(osd: str, name: str, value: object) -> str:
    """Set an option of one OSD (its number), or of all (`*`)."""
    return f"ceph config set {_section(osd)} {name} {value}"


def unset_option(osd: str, name: str) -> str:
    """Take an option back to what it is without this setting."""
    return f"ceph config rm {_section(osd)} {name}"


def show_option(osd: str, name: str) -> str:
    """Ask an OSD what it runs with."""
    return f"ceph config show osd.{osd} {name}"


def restart(osd: str) -> str:
    """Restart an OSD."""
    return f"systemctl restart ceph-osd@{osd}    # cephadm: ceph orch daemon restart osd.{osd}"


def measure(osd: str) -> tuple[str, str]:
    """Let an OSD measure itself as it does at its start: 4 KiB writes, 12 MB of them."""
    return (f"ceph tell osd.{osd} cache drop", f"ceph tell osd.{osd} bench 12288000 4096 4194304 100")


def _section(osd: str) -> str:
    return "osd" if osd == "*" else f"osd.{osd}"
