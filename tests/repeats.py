"""Captures of the Llama step again and again, small enough to keep: the values that verdicts rest on.

``python -m tests.repeats FOLDER`` makes data/repeats.json of reports called eager_1.sqlite, inductor_1.sqlite and so
on: the same code on one machine, 30 steps each. Single instances are left out.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path

import nsys_analyze
from nsys_analyze.comparing import reports_in
from nsys_analyze.verdict.config import WARMUP
from nsys_analyze.verdict.records import Circumstances, record
from nsys_analyze.verdict.samples import ReportSample, StageSample, sample

DATA = Path(__file__).parent / "data" / "repeats.json"
VARYING = ("calls", "active", "launches")


def repeats() -> dict[str, list[ReportSample]]:
    """The samples of all reports, by what ran."""
    document = json.loads(DATA.read_text(encoding="utf-8"))
    circumstances = Circumstances(**_tuples(document["circumstances"]))
    return {
        group: [
            ReportSample(
                label=f"{group}_{place + 1}",
                circumstances=circumstances,
                stages={(one.path, one.domains, 0): one for one in (_at(stage, place) for stage in stages)},
            )
            for place in range(len(stages[0]["active"]))
        ]
        for group, stages in document["stages"].items()
    }


def _at(stage, place):
    values = {name: values[place] for name, values in stage["values"].items()}
    return StageSample(**_tuples(stage) | {name: stage[name][place] for name in VARYING} | {"values": values})


def _tuples(fields):
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


def _together(samples):
    """One stage of several reports: what they share once, what varies as lists."""
    fields = dataclasses.asdict(samples[0])
    del fields["series"]
    for name in VARYING:
        fields[name] = [getattr(one, name) for one in samples]
    fields["values"] = {name: [round(one.values[name]) for one in samples] for name in samples[0].values}
    return fields


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    groups: dict[str, list[ReportSample]] = {}
    for file in reports_in(parser.parse_args().folder):
        report = sample(record(nsys_analyze.open_report(file).analysis(), Path(file).name), WARMUP)
        groups.setdefault(report.label.partition("_")[0], []).append(report)
    first = next(iter(groups.values()))[0]
    document = {
        "circumstances": dataclasses.asdict(first.circumstances),
        "stages": {
            name: [_together([report.stages[key] for report in reports]) for key in reports[0].stages]
            for name, reports in groups.items()
        },
    }
    DATA.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
