"""How much repeated captures of the same code differ, as they are and with the machine's speed taken out.

``python -m benchmarks.noise`` prints the table of docs/check.md from the repeated captures in tests/data.
"""

from __future__ import annotations

import numpy as np

from tests.repeats import repeats

STEP = (("steady", "step"), ("stages", "stages"), 0)
SHOWN = (
    ("pace", "pace", "eager"),
    ("pace", "pace", "inductor"),
    ("startup gap's prelude", "startup_gap_prelude", "eager"),
    ("startup gap's prelude", "startup_gap_prelude", "inductor"),
)
YARDSTICKS = (
    ("raw", None, 0.0),
    ("launch call", "launch_call", 1.0),
    ("calls", "calls", 1.0),
    ("calls^1.4", "calls", 1.4),
)


def deviation(group: str, metric: str, yardstick: str | None, power: float) -> float:
    """The standard deviation between captures of the logarithm."""
    stages = [report.stages[STEP] for report in repeats()[group]]
    logs = np.log([stage.values[metric] for stage in stages])
    if yardstick is not None:
        by = [stage.calls if yardstick == "calls" else stage.values[yardstick] for stage in stages]
        logs = logs - power * np.log(by)
    return float(np.std(logs, ddof=1))


def main() -> None:
    print("| noise between captures | " + " | ".join(title for title, _, _ in YARDSTICKS) + " |")
    for title, metric, group in SHOWN:
        cells = [f"{100 * deviation(group, metric, name, power):.1f}%" for _, name, power in YARDSTICKS]
        print(f"| {title}, {group} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
