"""How each GPU was used, by everybody together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings

from nsys_analyze import open_report
from tests import strategies
from tests.bruteforce_load import load
from tests.exports import ExportBuilder
from tests.samples import SAMPLES

if TYPE_CHECKING:
    from pathlib import Path

    from nsys_analyze.metrics.results import DeviceUse


def use(device: DeviceUse) -> tuple[int, ...]:
    return (device.busy_ns, device.idle_ns, device.largest_gap_ns)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(builder=strategies.exports(ties=True))
def test_every_nanosecond_is_counted_once(builder: ExportBuilder, tmp_path: Path) -> None:
    """Held against a list of all instants, each looked at by itself."""
    path = builder.write(tmp_path / "report.sqlite")
    operations = load(path).operations
    devices = open_report(path).analysis().devices
    assert [device.device for device in devices] == sorted({op.device for op in operations})
    for device in devices:
        mine = [op for op in operations if op.device == device.device]
        first, last = min(op.start for op in mine), max(op.end for op in mine)
        busy = [any(op.start <= instant < op.end for op in mine) for instant in range(first, last)]
        gaps = "".join(" x"[each] for each in busy).split("x")
        longest = max(map(len, gaps))
        assert (device.first_op_ns, device.last_op_ns) == (first, last)
        assert use(device) == (sum(busy), len(busy) - sum(busy), longest)
        if longest:
            start = device.largest_gap_start_ns - first
            assert not any(busy[start : start + longest])
        else:
            assert device.largest_gap_start_ns is None
        whole = any(op.kind == "graph" for op in mine)
        kernels = [op.duration for op in mine if op.kind == "kernel"]
        assert device.gpu_ops == len(mine)
        assert (device.kernels, device.kernel_ns) == ((None, None) if whole else (len(kernels), sum(kernels)))


def check_invariants(path: Path) -> None:
    analysis = open_report(path).analysis()
    for device in analysis.devices:
        window = device.last_op_ns - device.first_op_ns
        assert device.busy_ns + device.idle_ns == window
        assert 0 <= device.busy_ns <= window
        assert 0 <= device.largest_gap_ns <= device.idle_ns
    assert sum(device.gpu_ops for device in analysis.devices) == analysis.coverage.gpu_ops
    used = {process.pid: set(process.gpus) for process in analysis.report.processes}
    for device in analysis.devices:
        assert set(device.processes) == {pid for pid, gpus in used.items() if device.device in gpus}


def test_real_reports_keep_the_invariants(sample_report) -> None:
    for name in SAMPLES:
        check_invariants(sample_report(name))


def test_a_stream_that_waits_for_another_is_not_an_idle_gpu(builder, analyse):
    thread = builder.process(pid=100).thread()
    call = thread.call("cudaLaunchKernel_v7000", 0, 5)
    call.kernel("a", 10, 20, stream=7)
    call.kernel("b", 20, 80, stream=13)
    call.kernel("a", 80, 90, stream=7)
    (device,) = analyse(builder).devices
    assert use(device) == (80, 0, 0)
    assert device.largest_gap_start_ns is None


def test_a_copy_is_not_idle(builder, analyse):
    thread = builder.process(pid=100).thread()
    thread.call("cudaLaunchKernel_v7000", 0, 5).kernel("a", 10, 20)
    thread.call("cudaMemcpyAsync_v3020", 6, 8).memcpy(25, 45)
    thread.call("cudaMemsetAsync_v3020", 8, 9).memset(45, 50)
    (device,) = analyse(builder).devices
    assert use(device) == (35, 5, 5)
    assert device.largest_gap_start_ns == 20
    assert (device.gpu_ops, device.kernels, device.kernel_ns) == (3, 1, 10)


def test_a_stream_id_on_three_gpus_is_three_streams(builder, analyse):
    thread = builder.process(pid=100).thread()
    call = thread.call("cudaLaunchKernel_v7000", 0, 5)
    for device in range(3):
        call.kernel("a", 10, 20, device=device)
        call.kernel("a", 30 + device, 40, device=device)
    devices = analyse(builder).devices
    assert [use(device) for device in devices] == [(20, 10, 10), (19, 11, 11), (18, 12, 12)]


def test_processes_that_call_it_zero_share_the_machines_gpu_or_not(builder, analyse):
    """Under CUDA_VISIBLE_DEVICES each process counts for itself."""
    builder.gpu(0)
    builder.gpu(3, "NVIDIA L4")
    for pid, gpu in ((100, 3), (101, 0), (102, 3)):
        process = builder.process(pid=pid)
        process.device(0, gpu)
        process.thread().call("cudaLaunchKernel_v7000", 0, 5).kernel("a", pid, pid + 2)
    devices = analyse(builder).devices
    assert [(device.device, device.name, device.processes) for device in devices] == [
        (0, "NVIDIA H200", [101]),
        (3, "NVIDIA L4", [100, 102]),
    ]
    assert use(devices[1]) == (4, 0, 0)
    assert devices[1].busy_share == 1.0


def test_what_takes_no_time_bounds_the_window_but_is_not_busy(builder, analyse):
    process = builder.process(pid=100)
    for start, end in ((10, 10), (20, 30), (45, 45)):
        process.orphan_kernel("a", start, end)
    (device,) = analyse(builder).devices
    assert use(device) == (10, 25, 15)
    assert device.largest_gap_start_ns == 30


def test_nothing_is_said_of_gpus_that_nobody_used(builder, analyse):
    builder.gpu(0)
    builder.process(pid=100).thread().push_pop("step", 0, 10)
    assert analyse(builder).devices == []
