"""RocksDB's db_bench: one run with an options file, and what it reports and logs."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.tuners.options.option_set import OptionSet

# "Percentiles: P50: 2.41 P75: 3.04 P99: 11.73 P99.9: 23.85 P99.99: 40.29"
P99 = re.compile(r"P99: ([\d.]+)")
# "fillrandom   :       3.917 micros/op 255274 ops/sec 6.000 seconds 1531648 operations;   28.2 MB/s"
OPERATIONS = re.compile(r"^(\w+)\s*:\s+[\d.]+ micros/op (\d+) ops/sec .*? (\d+) operations;", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One set-up: benchmarks of db_bench in their order, of which the last is measured, and its other flags."""

    name: str
    benchmarks: str
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BenchRun:
    """One run: operations a second and the 99th percentile of the last benchmark, bytes of flushes and compactions."""

    ops_per_second: float
    p99_micros: float
    written_bytes: float
    log: Path

    def analysis(self) -> RunAnalysis:
        """What the run's LOG shows."""
        (run,) = analyze([str(self.log)]).runs
        return run


def run_benchmark(binary: str, benchmark: Benchmark, options: OptionSet, version: str, folder: Path) -> BenchRun:
    """Run db_bench once in an empty folder, single-threaded.

    Its seed is fixed, so all option sets meet the same keys. Raises RuntimeError where it fails, with its words.
    """
    folder.mkdir(parents=True)
    file = folder / "options.ini"
    file.write_text(options.to_options_file(["default"], version))
    command = [
        *(binary, f"--benchmarks={benchmark.benchmarks}", f"--db={folder / 'db'}", f"--options_file={file}"),
        *("--histogram=1", "--threads=1", "--seed=1", *benchmark.flags),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    found = OPERATIONS.findall(done.stdout)
    if done.returncode or not found:
        said = (done.stderr or done.stdout).strip().splitlines() or ["nothing was said"]
        raise RuntimeError(f"{benchmark.name} under {options.name}: {said[-1]}")
    p99 = P99.findall(done.stdout)
    log = folder / "db" / "LOG"
    (run,) = analyze([str(log)]).runs
    written = run.total.flush_bytes + run.total.compaction_output_bytes
    return BenchRun(float(found[-1][1]), float(p99[-1]) if p99 else 0.0, float(written), log)
