"""The collection as a shell script, for a host without Python: POSIX sh, the same requests, one OSD after the other.

The script writes `NAME.tar.gz` under another name and renames it when it is whole. It withholds what is secret with
sed, by the names of options and the shape of cephx keys, as `secrets` does.
"""

import shlex
from typing import Final

from lsmlens.analyzer.collection.access import Access
from lsmlens.analyzer.collection.bundle import Limits, selector
from lsmlens.analyzer.collection.requests import CLUSTER, DAEMON, METADATA, PERF_DUMP, Request
from lsmlens.analyzer.errors import LsmlensError

# As `secrets.NAME` and `secrets.CEPHX_KEY`, in the words of POSIX: a name in quotes, or at the start of a line.
_NAMED: Final = (
    r"([A-Za-z0-9_./-]*(keyring|passw|passphrase|secret|credential|private)[A-Za-z0-9_./-]*"
    r"|([A-Za-z0-9_./-]*[_./-])?(keys?|keyfile|tokens?)([_./-][A-Za-z0-9_./-]*)?)"
)
_TEXT: Final = r'"([^"\\]|\\.)*"'
_SED: Final = (
    rf's#("{_NAMED}"[[:space:]]*:[[:space:]]*){_TEXT}#\1"(withheld)"#g',
    rf's#("{_NAMED}"[[:space:]]*:[[:space:]]*)[{{][^{{}}]*[}}]#\1"(withheld)"#g',
    rf's#("name"[[:space:]]*:[[:space:]]*"{_NAMED}"[[:space:]]*,[[:space:]]*"value"[[:space:]]*:[[:space:]]*){_TEXT}#\1"(withheld)"#g',
    r"s#AQ[A-Za-z0-9+/]{36}==#(withheld)#g",
    r"s#://[^/:@[:space:]]+:[^/@[:space:]]+@#://(withheld)@#g",
)
_JOURNAL: Final = {
    "kubectl": 'kubectl -n {namespace} logs "deploy/rook-ceph-osd-$1" -c osd --since={minutes}m',
    "host": "journalctl --no-pager -q -o short-iso-precise --since -{minutes}min"
    ' -u "ceph-osd@$1.service" -u "ceph-*@osd.$1.service"',
}
_SCRIPT: Final = """\
#!/bin/sh
# Collects what lsmlens reads of Ceph OSDs. It only asks, and never changes a setting. Printed by lsmlens {version}.
# Usage: sh SCRIPT [NAME]      writes NAME.tar.gz (default: lsmlens-bundle.tar.gz)
set -u
umask 077
name=${{1:-lsmlens-bundle}}
work=$name.collecting.$$
cleanup() {{ rm -rf "$work" "$name.tar.$$" "$name.tar.$$.gz"; }}
trap 'cleanup' EXIT
trap 'exit 130' HUP INT TERM
mkdir "$work" || exit 2

limit() {{ if command -v timeout >/dev/null 2>&1; then timeout {timeout} "$@"; else "$@"; fi; }}
withheld() {{
    sed -E \\
{sed}
}}
failed() {{ printf '%s: %s\\n' "$1" "$2" | tee -a "$work/failures.txt" >&2; }}
# ask FILE COMMAND…: the command's answer into the file, or the reason into failures.txt
ask() {{
    file=$work/$1; shift
    limit "$@" >"$work/answer" 2>"$work/said" </dev/null
    status=$?
    if [ $status = 0 ]; then
        tr -d '\\n' <"$work/answer" >"$work/line"
        case $file in *.json) withheld <"$work/line" >"$file";; *) withheld <"$work/answer" >"$file";; esac
    else
        [ $status = 124 ] && echo "no answer within {timeout} s" >>"$work/said"
        failed "${{file#"$work"/}}" "$*: $(tail -n 1 "$work/said")"
    fi
}}
# logs N: the pieces of an OSD's log that are here, or what the journal has
logs() {{
    folder=$(ceph-conf --name "osd.$1" --show-config-value log_file 2>/dev/null)
    folder=${{folder%/*}}
    find -L "${{folder:-/var/log/ceph}}" /var/log/ceph -maxdepth 2 -type f -name "*osd.$1.log*" \\
        -mmin -{minutes} >"$work/list" 2>/dev/null
    while read -r piece; do
        into=$work/osd.$1/$(basename "$piece")
        case $piece in
        *.gz) gzip -dc "$piece" | withheld >"${{into%.gz}}";;
        *.zst|*.xz|*.bz2) failed "osd.$1" "$piece is not taken: its compression";;
        *) withheld <"$piece" >"$into";;
        esac
    done <"$work/list"
    if [ ! -s "$work/list" ]; then
        {journal} >"$work/answer" 2>/dev/null </dev/null
        if [ -s "$work/answer" ]; then
            withheld <"$work/answer" >"$work/osd.$1/osd.$1.log"
        else
            failed "osd.$1" "no log here: run this on its host too"
        fi
    fi
}}

{cluster}
osds=$({osds}) || {{ echo "error: the cluster does not say which OSDs there are" >&2; exit 2; }}
for n in $osds; do
    mkdir "$work/osd.$n"
{daemon}
done
sleep {interval}
for n in $osds; do
    {second}
    logs "$n"
done
rm -f "$work/answer" "$work/said" "$work/line" "$work/list"
tar cf "$name.tar.$$" -C "$work" $(ls "$work") && gzip "$name.tar.$$" && mv "$name.tar.$$.gz" "$name.tar.gz" || {{
    echo "error: $name.tar.gz could not be written" >&2
    exit 2
}}
echo "$name.tar.gz"
"""


def shell_script(access: Access, which: str, worst: int | None, limits: Limits, version: str) -> str:
    """The script. Raises LsmlensError for OSDs that cannot be understood."""
    if access.ssh or limits.debug_seconds is not None:
        raise LsmlensError("--print-script goes without --ssh and --debug-for", "the script only asks, where it runs")
    minutes = limits.since_minutes

    def of_daemon(request: Request, file: str) -> str:
        return f'ask "osd.$n/{file}" {shlex.join(access.cluster("tell"))} "osd.$n" {shlex.join(request.words)}'

    daemon = [
        f'ask "osd.$n/{METADATA.file}" {shlex.join(access.cluster("osd", "metadata"))} "$n" -f json',
        *(of_daemon(one, one.file) for one in DAEMON),
        of_daemon(PERF_DUMP, "perf_dump.1.json"),
    ]
    return _SCRIPT.format(
        version=version,
        timeout=max(1, round(limits.timeout_seconds)),
        sed=" \\\n".join(f"        -e '{one}'" for one in _SED),
        minutes=minutes,
        journal=_JOURNAL["kubectl" if access.way == "kubectl" else "host"].format(
            namespace=shlex.quote(access.namespace), minutes=minutes
        ),
        cluster="\n".join(f"ask {one.file} {shlex.join(access.cluster(*one.words))}" for one in CLUSTER),
        osds=_listing(access, which, worst),
        daemon="\n".join(f"    {line}" for line in daemon),
        interval=round(limits.interval_seconds),
        second=of_daemon(PERF_DUMP, "perf_dump.2.json"),
    )


def _listing(access: Access, which: str, worst: int | None) -> str:
    """What prints the OSDs' numbers."""
    words = selector(which)
    chosen = f"echo {' '.join(map(str, words))}" if isinstance(words, list) else shlex.join(access.cluster(*words))
    if worst is None:
        return chosen
    # osd  commit_latency(ms)  apply_latency(ms)
    slowest = f"{shlex.join(access.cluster('osd', 'perf'))} | sort -k2,2 -rn | awk '{{ print $1 }}'"
    among = 'while read -r n; do case $chosen in *" $n "*) echo "$n";; esac; done'
    return f"chosen=\" $({chosen} | tr '\\n' ' ') \"; {slowest} | {among} | head -n {worst}"
