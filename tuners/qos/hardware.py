"""What a simulated OSD runs on: times of its processors, store, device and network.

The two that are given here were set for the published study's machines (one host, four OSDs on NVMe, or on HDDs with
WAL and database on NVMe). Fitted on figures of its rows without mClock alone: on NVMe `client_delay_seconds` and
`kv_transaction_seconds` to the client's rate without recovery, what a pushed object costs the device to the recovery
time of WPQ without limits, `read_seconds` to that of WPQ with one placement group at a time; on HDDs
`small_write_seconds` to the client's rate without recovery, what a pushed object costs to WPQ without limits. The
others were set beforehand; `processors_per_osd` are the study's 40 hardware threads for four OSDs.
"""

from dataclasses import dataclass, replace

OBJECT_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Hardware:
    """Times in seconds, rates in bytes a second.

    A worker is busy `cpu_seconds` with a small operation and `reply_cpu_seconds` with a reply or a commit's callback.
    `small_write_seconds` is what the device takes for a small write, exponentially distributed where `has_seeks`;
    larger ones take their bytes at `write_bytes_per_second`. `device_delay_seconds` passes until a write is known to
    be done. Reading an object of 4 MiB keeps its worker for `read_seconds`, the device for `read_device_seconds`.
    The kv thread takes `kv_batch_seconds` and `kv_transaction_seconds` for each transaction in the batch. Messengers
    copy at the two rates; `network_seconds` pass on the way. `client_delay_seconds` is all that happens to a client's
    operation outside of OSDs. `throttle_cost_per_io` are the bytes that BlueStore's throttle adds for each write to
    the device. `processors_per_osd` are the hardware threads that a host has for each of its OSDs.
    """

    name: str
    has_seeks: bool
    cpu_seconds: float
    reply_cpu_seconds: float
    small_write_seconds: float
    write_bytes_per_second: float
    device_delay_seconds: float
    read_seconds: float
    read_device_seconds: float
    kv_batch_seconds: float
    kv_transaction_seconds: float
    receive_bytes_per_second: float
    send_bytes_per_second: float
    network_seconds: float
    client_delay_seconds: float
    throttle_cost_per_io: int
    processors_per_osd: float


NVME = Hardware(
    name="nvme",
    has_seeks=False,
    cpu_seconds=50e-6,
    reply_cpu_seconds=10e-6,
    small_write_seconds=12e-6,
    write_bytes_per_second=OBJECT_BYTES / 2.55e-3,
    device_delay_seconds=60e-6,
    read_seconds=2.75e-3,
    read_device_seconds=0.5e-3,
    kv_batch_seconds=150e-6,
    kv_transaction_seconds=47.6e-6,
    receive_bytes_per_second=OBJECT_BYTES / 2.3e-3,
    send_bytes_per_second=OBJECT_BYTES / 1.2e-3,
    network_seconds=60e-6,
    client_delay_seconds=1.34e-3,
    throttle_cost_per_io=4000,
    processors_per_osd=10,
)

HDD = replace(
    NVME,
    name="hdd",
    has_seeks=True,
    small_write_seconds=3.81e-3,
    write_bytes_per_second=OBJECT_BYTES / 40e-3,
    read_seconds=45e-3,
    read_device_seconds=40e-3,
    kv_batch_seconds=300e-6,
    kv_transaction_seconds=40e-6,
    client_delay_seconds=1e-3,
    throttle_cost_per_io=670_000,
)
