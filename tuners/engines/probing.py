"""A library's own word for its version: a database is opened with it, in a process that may crash for it.

That process is held to what it needs (`confinement`).
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from lsmlens.tuners.engines.confinement import confine
from lsmlens.tuners.engines.errors import EngineError

LIMIT_SECONDS = 60
REFUSED = 3


def probed_version(library: Path) -> str:
    """The version of RocksDB in a shared library. Raises EngineError if it is none that can be used here."""
    command = [sys.executable, "-P", "-m", "lsmlens.tuners.engines.probing", str(library)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise EngineError(f"{library}: opening a database with it does not end") from None
    if done.returncode == 0:
        return done.stdout.strip()
    said = done.stderr.strip().splitlines() or [f"it ends with status {done.returncode}"]
    if done.returncode == REFUSED:
        raise EngineError(said[0], said[-1] if len(said) > 1 else "")
    raise EngineError(f"{library}: no RocksDB that can be used: {said[-1]}")


def _version(library: Path) -> str:
    from lsmlens.tuners.engines.c_api import CApi
    from lsmlens.tuners.engines.option_readback import latest_options_file
    from lsmlens.tuners.options.options_file import read_options_file

    api = CApi(library)
    error = api.new_error()
    with tempfile.TemporaryDirectory(prefix="lsmlens-") as folder:
        options = api.lib.rocksdb_options_create()
        api.lib.rocksdb_options_set_create_if_missing(options, 1)
        database = api.lib.rocksdb_open(options, folder.encode(), error)
        api.check(error)
        api.lib.rocksdb_close(database)
        return read_options_file(latest_options_file(Path(folder))).rocksdb_version


if __name__ == "__main__":
    confine()
    try:
        print(_version(Path(sys.argv[1])))
    except EngineError as error:
        print(error, error.hint, sep="\n", file=sys.stderr)
        sys.exit(REFUSED)
