"""The package against the brute-force oracle: the same numbers, on reference captures and on generated exports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nsys_analyze
from nsys_analyze.instances import gpu
from nsys_analyze.metrics import grouping
from nsys_analyze.metrics.results import Analysis, Stage
from tests import bruteforce, bruteforce_numbers, strategies
from tests.samples import RULES, SAMPLES

EXPECTED = json.loads((Path(__file__).parent / "data" / "expected.json").read_text())


HOST_ONLY = ("instances", "wall", "wall_median", "elapsed", "elapsed_median", "pace", "cold_start")


def by_path(analysis: Analysis) -> dict[tuple[int, tuple[tuple[str, str], ...]], Stage]:
    return {(s.process, tuple(zip(s.domains, s.path, strict=True))): s for s in analysis.stages}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", SAMPLES)
def test_reference_numbers(sample_report, name, rule):
    expected = EXPECTED[name][rule]
    analysis = nsys_analyze.open_report(sample_report(name), attribution=rule).analysis()
    for key, value in expected["coverage"].items():
        assert getattr(analysis.coverage, key) == value, key
    stages = by_path(analysis)
    assert expected["stages"]
    for row in expected["stages"]:
        path = tuple(tuple(element.split(":", 1)) if _has_domain(element) else ("", element) for element in row["path"])
        stage = stages[row["process"], path]
        assert _reference_row(stage) == {key: value for key, value in row.items() if key not in ("process", "path")}


def _has_domain(element: str) -> bool:
    return element.startswith("stages:")


def _reference_row(stage: Stage) -> dict:
    gap = stage.startup_gap_ns
    parts = ("total", "prelude", "launch", "queue", "exposed", "hidden", "median", "exposed_median")
    return {
        "instances": stage.instances,
        "instances_with_gpu": stage.instances_with_gpu,
        "wall_ns": stage.wall_ns.total,
        "elapsed_ns": stage.elapsed_ns.total,
        "pace_ns": None if stage.pace_ns is None else round(stage.pace_ns),
        "gpu_ops": stage.gpu_ops,
        "kernels": stage.kernels,
        "launches": stage.launches,
        "kernel_ns": stage.kernel_ns,
        "busy_ns": stage.busy_ns,
        "self_gpu_ops": stage.self.gpu_ops,
        "startup_gap_ns": gap and {part: getattr(gap, part) for part in parts},
    }


def numbers(stage: Stage) -> dict:
    """The numbers that the oracle has too, by its names."""
    gap, calls = stage.startup_gap_ns, stage.launch_call_ns
    parts = ("total", "prelude", "launch", "queue", "exposed", "hidden", "median", "exposed_median", "first")
    return {
        "instances": stage.instances,
        "instances_with_gpu": stage.instances_with_gpu,
        "wall": stage.wall_ns.total,
        "wall_median": stage.wall_ns.median,
        "elapsed": stage.elapsed_ns.total,
        "elapsed_median": stage.elapsed_ns.median,
        "pace": stage.pace_ns,
        "gpu_ops": stage.gpu_ops,
        "kernels": stage.kernels,
        "launches": stage.launches,
        "kernel_launches": stage.kernel_launches,
        "via_process": stage.via_process,
        "kernel_ns": stage.kernel_ns,
        "busy": stage.busy_ns,
        "active": stage.active_ns,
        "self_gpu_ops": stage.self and stage.self.gpu_ops,
        "self_kernels": stage.self and stage.self.kernels,
        "self_kernel_ns": stage.self and stage.self.kernel_ns,
        "startup_gap": gap and {part: getattr(gap, part) for part in parts},
        "cpu_overhead": stage.cpu_overhead_ns,
        "overhead_per_kernel": stage.overhead_per_kernel_ns,
        "launch_call": calls
        and (calls.count, calls.median, calls.p95, calls.max, calls.first_count, calls.first_total),
        "queue_delay_median": stage.queue_delay_ns and stage.queue_delay_ns.median,
        "cold_start": stage.cold_start_ns,
    }


def check_against_oracle(path: Path, rule: str) -> None:
    oracle = bruteforce.analyse(path, rule)
    analysis = nsys_analyze.open_report(path, attribution=rule).analysis()
    assert {key: getattr(analysis.coverage, key) for key in oracle.coverage} == oracle.coverage
    assert {key: getattr(analysis.coverage.gpu_time_ns, key) for key in oracle.gpu_time} == oracle.gpu_time
    stages = by_path(analysis)
    assert stages.keys() == oracle.stages.keys()
    gpu_ops = analysis.coverage.gpu_ops
    for key, stage in stages.items():
        ours, theirs = _rounded(numbers(stage)), _rounded(_of_oracle(oracle.stages[key], gpu_ops, stage.graphs))
        compared = theirs if stage.self else HOST_ONLY
        assert {name: (ours[name], theirs[name]) for name in compared if ours[name] != theirs[name]} == {}, key
        assert stage.self or not _tells_gpu(analysis, ours), key


def _tells_gpu(analysis: Analysis, ours: dict) -> bool:
    """Whether anything is said of the GPU, or could be: a kernel or a graph that was launched."""
    attributed = analysis.coverage.thread + analysis.coverage.process
    program = [p for p in analysis.programs if p.launches and (p.kernels is None or p.kernels)]
    said = [name for name in ours if name not in HOST_ONLY and ours[name] is not None]
    return bool(said) or (attributed > 0 and bool(program) and not analysis.coverage.launches_without_gpu_op)


def _rounded(value: Any) -> Any:
    """Floats to a millionth of a nanosecond: the oracle computes with fractions."""
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, tuple):
        return tuple(_rounded(inner) for inner in value)
    return round(value, 6) if isinstance(value, float) else value


def _of_oracle(stage: bruteforce_numbers.Stage, gpu_ops: int, whole_graphs: int) -> dict:
    """The oracle's numbers, with "no data" as the package says it."""
    out = dict(vars(stage))
    gap, calls = out["startup_gap"], vars(out["launch_call"])
    out["startup_gap"] = gap and vars(gap)
    out["launch_call"] = tuple(calls.values()) if calls["count"] or calls["first_count"] else None
    out["cpu_overhead"] = out["cpu_overhead"] if gpu_ops else None
    if whole_graphs:
        out["kernels"] = out["kernel_ns"] = out["overhead_per_kernel"] = None
    return out


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(export=strategies.exports(), seed=st.none() | strategies.permutations())
def test_generated_exports_agree_with_the_oracle(tmp_path, export, seed, rule):
    check_against_oracle(export.write(tmp_path / "report.sqlite", shuffle=seed), rule)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(export=strategies.exports())
def test_batches_do_not_change_the_numbers(tmp_path, export):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu, "_BATCH", 2)
        patch.setattr(grouping, "_BATCH", 2)
        check_against_oracle(export.write(tmp_path / "report.sqlite"), "process")


@pytest.mark.parametrize("schema", ["2.9.1", "3.0.0", "3.6.0", "3.24.14", "3.25.0", "unstamped"])
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_schema_agrees_with_the_oracle(tmp_path, data, schema):
    export = data.draw(strategies.exports(schema=schema))
    check_against_oracle(export.write(tmp_path / "report.sqlite"), "process")
