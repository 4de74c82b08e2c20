"""What the numbers on a page mean, in a sentence each; docs/numbers.md has the full definitions."""

from __future__ import annotations

TERMS = {
    "n": "how many ranges the stage has: its instances",
    "wall": "end less start of the range, summed over the instances",
    "pace": "time from one instance of a loop to the next, as CUDA events around the loop would measure it",
    "elapsed": "from the start of a range until it and its last GPU operation are over, on average",
    "CPU overhead": "the part of the pace in which no GPU worked for the instance, without the profiler's own time",
    "GPU active": "time in which at least one GPU worked for the instance, on average",
    "kernels": "kernels of an instance: the median, with the least and the most where they differ",
    "us/kernel": "CPU overhead for each kernel",
    "startup gap": (
        "from the start of the range to its first GPU operation: prelude (host code before the first launch) + launch "
        "(that call) + queue (until the operation starts)"
    ),
    "exposed": "the part of the startup gap in which the GPU stood idle: what it really lost",
    "hidden": "the part of the startup gap in which the GPU was still busy with earlier work: it costs nothing",
    "prelude": "host code before the first launch begins",
    "launch": "the launch call of the first GPU operation",
    "queue": "from the end of that call to the start of the operation",
    "compile": "time in which something of the stage was compiled or loaded",
    "cold start": "what the first instance took more than the median of the others",
    "host": "wall time by what the stage's own thread did; what nothing explains is host code",
    "GPU": "from the start of the range until it and its last GPU operation are over, by what the GPU did",
    "launch calls": "CPU time of kernel launch calls; each function's first launch stands apart, since it may load it",
    "queue delay": "from the end of a launch call to the start of its first GPU operation, at least 0",
    "kernels and copies": "what the stage put on the GPU, by name, largest total first; shares are of their sum",
    "stalls": "instances far above their siblings, and the parts of their time that grew beyond the median",
    "covered": "how many GPU operations, and how much GPU time, belong to a range, and why the rest does not",
}


def meaning(title: str) -> str:
    """Returns what a number of that title means, empty where the title says it all."""
    return TERMS.get(title, "")
