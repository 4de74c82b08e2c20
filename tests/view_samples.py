"""Analyses made by hand, for the tests of what draws them."""

from __future__ import annotations

from typing import Any

from nsys_analyze.metrics import results
from nsys_analyze.metrics.results import (
    Analysis,
    Coverage,
    CoverageTime,
    Distribution,
    Gpu,
    Instance,
    KernelsPerInstance,
    LaunchCalls,
    Process,
    Program,
    QueueDelay,
    ReportInfo,
    SelfCounts,
    Series,
    Settings,
    Stage,
    StartupGap,
)

MS = 1_000_000
US = 1_000
PID = 1617

# executor: pace, active, exposed median, gap median, (prelude, launch, queue, hidden) means, kernels a step, wall of
# import, build, compile, warmup, profiler time in the gap of build
LLAMA = {
    "eager": (1_669_451, 276_938, 1_152, 93_782, (28_095, 8_519, 52_963, 84_191), 60, (3861, 683, 1305, 5.9), 367),
    "inductor": (995_349, 196_890, 135_900, 192_600, (170_100, 12_300, 9_200, 55_200), 17, (4166, 605, 8410, 4.1), 331),
    "cudagraphs": (
        231_758,
        200_400,
        16_400,
        240_600,
        (20_100, 30_500, 185_100, 220_300),
        18,
        (4102, 611, 3890, 1.2),
        340,
    ),
    "thunder_torch": (
        1_645_615,
        278_600,
        156_800,
        234_300,
        (224_200, 10_700, 1_400, 70_800),
        60,
        (10574, 311, 5637, 5.8),
        0,
    ),
    "thunder_nvfuser": (
        1_681_662,
        204_400,
        374_500,
        435_900,
        (421_200, 9_900, 1_100, 50_300),
        17,
        (10310, 300, 10460, 5.9),
        0,
    ),
}


def distribution(*values: int) -> Distribution:
    ordered = sorted(values)
    middle = float(ordered[len(ordered) // 2])
    return Distribution(
        total=sum(values),
        mean=sum(values) / len(values),
        median=middle,
        p95=float(ordered[-1]),
        min=ordered[0],
        max=ordered[-1],
    )


def gap(count: int, prelude: int, launch: int, queue: int, hidden: int, **given: Any) -> StartupGap:
    """The startup gap of ``count`` instances whose parts are all as given (nanoseconds)."""
    each = prelude + launch + queue
    fields: dict[str, Any] = {
        "total": each * count,
        "prelude": prelude * count,
        "launch": launch * count,
        "queue": queue * count,
        "exposed": (each - hidden) * count,
        "hidden": hidden * count,
        "profiler": 0,
        "mean": float(each),
        "median": float(each),
        "p95": float(each),
        "max": each,
        "first": each,
        "exposed_median": float(each - hidden),
        "exposed_p95": float(each - hidden),
    }
    return StartupGap(**fields | given)


def stage(path: list[str], wall: list[float], kernels: int = 0, active: int = 0, **given: Any) -> Stage:
    """A stage with an instance for each ``wall`` (nanoseconds); ``kernels`` and ``active`` are an instance's."""
    count = len(wall)
    walls = [int(value) for value in wall]
    domains = given.pop("domains", ["stages"] * len(path))
    process = given.pop("process", PID)
    fields: dict[str, Any] = {
        "key": f"python3/{'/'.join(path)}",
        "path": path,
        "domains": domains,
        "name": path[-1],
        "domain": domains[-1],
        "process": process,
        "depth": len(path) - 1,
        "instances": count,
        "instances_with_gpu": count if kernels else 0,
        "unfinished": 0,
        "wall_ns": distribution(*walls),
        "elapsed_ns": distribution(*walls),
        "pace_ns": None,
        "gpu_ops": kernels * count,
        "kernels": kernels * count,
        "kernel_launches": kernels * count,
        "launches": kernels * count,
        "via_process": 0,
        "kernel_ns": active * count,
        "busy_ns": active * count,
        "active_ns": active * count,
        "kernels_per_instance": KernelsPerInstance(min=kernels, median=float(kernels), max=kernels),
        "self": SelfCounts(gpu_ops=kernels * count, kernels=kernels * count, kernel_ns=active * count),
        "startup_gap_ns": gap(count, 90 * US, 10 * US, 20 * US, 30 * US) if kernels else None,
        "cpu_overhead_ns": float(walls[0] - active) if kernels else None,
        "overhead_per_kernel_ns": (walls[0] - active) / kernels if kernels else None,
        "launch_call_ns": None,
        "queue_delay_ns": None,
        "cold_start_ns": None,
        "series": None,
    }
    return Stage(**fields | given)


def loop(
    path: list[str], pace: float, count: int = 10, kernels: int = 60, active: int = 279 * US, **given: Any
) -> Stage:
    """A stage with a pace."""
    fields: dict[str, Any] = {
        "pace_ns": float(pace),
        "cpu_overhead_ns": float(pace - active),
        "overhead_per_kernel_ns": (pace - active) / kernels if kernels else None,
        "launch_call_ns": LaunchCalls(
            count=kernels * count, median=5_200.0, p95=9_100.0, max=80_000, first_count=3, first_total=900_000
        ),
        "queue_delay_ns": QueueDelay(median=1_400.0, p95=3_000.0),
        "series": Series(
            start_ns=[int(number * pace) for number in range(count)],
            wall_ns=[int(pace)] * count,
            elapsed_ns=[int(pace)] * count,
            gap_ns=[120 * US] * count,
            prelude_ns=[100 * US] * count,
            exposed_ns=[90 * US] * count,
            calls_ns=[330 * US] * count,
            kernels=[kernels] * count,
        ),
    }
    return stage(path, [pace] * count, kernels, active, **fields | given)


def coverage(gpu_ops: int = 887, **given: int) -> Coverage:
    """Everything by thread but for the counts given; each operation took 4 us."""
    kinds = {"process": 0, "no_launch_row": 0, "outside_ranges": 0, "ambiguous_thread": 0} | given
    counts = {"gpu_ops": gpu_ops, "thread": gpu_ops - sum(kinds.values()), **kinds}
    times = CoverageTime(**{name: count * 4 * US for name, count in counts.items()})
    return Coverage(**counts, gpu_time_ns=times, launches_without_gpu_op=0)


def report(file: str, **given: Any) -> ReportInfo:
    fields: dict[str, Any] = {
        "file": file,
        "sha256": "0" * 64,
        "nsys_version": "2025.3.2.474",
        "export_schema": "3.20.3",
        "duration_ns": 18_020 * MS,
        "gpus": [Gpu(id=0, name="NVIDIA H200")],
        "cpu": "Intel Xeon Platinum 8480C",
        "driver": "580.159",
        "capture": {"trace": "cuda,nvtx", "cuda_graph": "node", "backtraces": False},
        "processes": [Process(pid=PID, name="python3", rank=None, gpus=[0])],
    }
    return ReportInfo(**fields | given)


def program(process: int = PID, **given: Any) -> Program:
    fields: dict[str, Any] = {
        "process": process,
        "name": "python3",
        "first_event_ns": 12 * MS,
        "cuda_init_ns": 10_100 * MS,
        "first_call_ns": 10_500 * MS,
        "first_gpu_op_ns": 10_740 * MS,
        "first_kernel_ns": 10_741 * MS,
        "last_event_ns": 17_950 * MS,
        "calls": 4_004,
        "launches": 880,
        "gpu_ops": 887,
        "kernels": 872,
        "kernel_ns": 5 * MS,
        "busy_ns": 5 * MS,
        "profiler_ns": 382 * MS,
    }
    return Program(**fields | given)


def analysis(file: str = "report.sqlite", stages: list[Stage] | None = None, **given: Any) -> Analysis:
    fields: dict[str, Any] = {
        "settings": Settings(attribution="process", folding="default", domain=None),
        "report": report(file),
        "coverage": coverage(),
        "warnings": [],
        "programs": [program()],
        "stages": stages or [],
    }
    return Analysis(**fields | given)


def llama(executor: str) -> Analysis:
    """One of the five executors of the same step."""
    pace, active, exposed, median, (prelude, launch, queue, hidden), kernels, walls, profiler = LLAMA[executor]
    setup, build, compiling, warmup = (int(wall * MS) for wall in walls)
    step_gap = gap(10, prelude, launch, queue, hidden, median=float(median), exposed_median=float(exposed))
    build_gap = gap(1, build * 4 // 5, 900 * US, 0, 0, profiler=profiler * MS)
    compile_gap = gap(1, compiling - 40 * MS, 10 * US, 2 * US, 0)
    return analysis(
        f"llama_{executor}.sqlite",
        [
            stage(["import"], [setup]),
            stage(["build"], [build], 32, 2 * MS, startup_gap_ns=build_gap),
            stage(["compile"], [compiling], kernels, active, startup_gap_ns=compile_gap),
            stage(["warmup"], [warmup], 3 * kernels, 3 * active),
            loop(
                ["warmup", "step"],
                pace * 1.1,
                3,
                kernels,
                active,
                cold_start_ns=pace * 0.4,
                cold_first_ns=int(pace * 1.4),
            ),
            stage(["steady"], [10 * pace + 60 * US], 10 * kernels, 10 * active),
            loop(["steady", "step"], pace, 10, kernels, active, startup_gap_ns=step_gap),
        ],
        warnings=[
            results.Notice(
                code="profiler-init",
                message="CUDA profiling initialisation took 382 ms inside `import`; it is not counted as overhead",
                stage="python3/import",
                level="note",
            )
        ],
    )


def without_nvtx() -> Analysis:
    return analysis(
        "vector_add.sqlite",
        coverage=coverage(12, outside_ranges=12),
        warnings=[
            results.Notice(
                code="no-nvtx", message="the report holds no NVTX range: only whole processes can be told apart"
            )
        ],
    )


def two_processes() -> Analysis:
    """Two ranks that do the same, one of them slower."""
    ranks = [Process(pid=PID + rank, name="python3", rank=rank, gpus=[rank]) for rank in range(2)]
    stages = [
        stage_of_rank
        for rank in range(2)
        for stage_of_rank in (
            stage(["train"], [600 * MS], 480, 300 * MS, process=PID + rank, key=f"rank {rank}/train"),
            loop(
                ["train", "step"], (28 + rank) * MS, 20, 24, 15 * MS, process=PID + rank, key=f"rank {rank}/train/step"
            ),
        )
    ]
    return analysis(
        "two_ranks.sqlite",
        stages,
        report=report(
            "two_ranks.sqlite", processes=ranks, gpus=[Gpu(id=n, name="NVIDIA A100-SXM4-80GB") for n in (0, 1)]
        ),
        coverage=coverage(4_034, process=1_024, no_launch_row=24),
        programs=[program(PID), program(PID + 1)],
    )


def training() -> Analysis:
    """A loop with parts: each step has one forward, backward and optimizer range."""
    parts = [("forward", 9, 259), ("backward", 17, 459), ("optimizer", 4, 5)]
    return analysis(
        "vit_train.sqlite",
        [
            stage(["build"], [800 * MS], 2, 3 * US, domains=[""]),
            stage(["steady"], [182 * MS], 4_338, 120 * MS, domains=[""]),
            loop(["steady", "step"], 30.25 * MS, 6, 723, 20 * MS, domains=["", ""]),
            *(
                stage(["steady", "step", name], [ms * MS] * 6, kernels, ms * MS // 2, domains=["", "", ""])
                for name, ms, kernels in parts
            ),
        ],
        coverage=coverage(5_758, process=3_649),
    )


def many_stages(count: int = 1_000) -> Analysis:
    stages = [stage(["root"], [60_000 * MS], 3, MS)]
    for number in range(count - 1):
        path = ["root", f"phase {number % 7}", f"operation_{number}"]
        stages.append(loop(path, (number % 50 + 1) * MS, 4, 3) if number % 3 else stage(path, [number * US + 1], 3, US))
    return analysis("many.sqlite", stages)


HOSTILE = [
    "\x1b[2J\x1b[31mred\x1b[0m",
    "two\nlines\r\tand a tab",
    "a|b `code` ``more`` \\| end`",
    "<script>alert(1)</script> <!-- @everyone #1 [x](http://y) **bold** $x$",
    "x" * 10_000,
    "=cmd|' /C calc'!A0",
    "@SUM(1)",
    "-1+1",
    "\tlater",
    "",
    "/ArgMax_1",
    "名前の長い範囲" * 12,
    "\u202eright to left\u202c \x9b31m \x00 \u2028 \ud800",
    "'' \"quoted\", comma",
]


def hostile() -> Analysis:
    stages = [stage([name], [MS * (place + 1)], 2, US) for place, name in enumerate(HOSTILE)]
    stages += [loop([name, name], 2 * MS, 4, 2) for name in HOSTILE]
    return analysis(
        "evil\x1b[31m\n.sqlite",
        stages,
        warnings=[
            results.Notice(code="open-range", message=f"`{HOSTILE[3]}` \x1b[5m never ended", stage=HOSTILE[0], count=1)
        ],
    )


def instances(count: int = 30) -> list[Instance]:
    return [
        Instance(
            stage="python3/steady/step",
            path=["steady", "step"],
            name=f"step {number}",
            domain="stages",
            process=PID,
            thread=PID,
            index=number,
            finished=True,
            start_ns=17_000 * MS + number * 1_646_123,
            wall_ns=1_600_000 + number,
            elapsed_ns=1_646_000 + number * 10 * US,
            gpu_ops=62,
            kernels=60,
            launches=62,
            kernel_launches=60,
            kernel_ns=279_000,
            busy_ns=279_500,
            active_ns=279_500,
            startup_gap_ns=234_300 + number if number else None,
            prelude_ns=224_200 + number if number else None,
            launch_ns=8_600 if number else None,
            queue_ns=1_500 if number else None,
            exposed_ns=156_800 + number if number else None,
            hidden_ns=77_500 if number else None,
        )
        for number in range(count)
    ]
