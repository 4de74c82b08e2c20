"""What the command must do with any file: a right answer, or one line that says why there is none."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import jsonschema
from referencing import Registry
from referencing.jsonschema import DRAFT202012

SECONDS, MEGABYTES = 60, 1500  # that one run may take; over what the loaded libraries take


@dataclass(frozen=True)
class Verb:
    """A command line to try: what stands before and after the report; `schema` is of the JSON that it prints."""

    before: tuple[str, ...]
    after: tuple[str, ...] = ()
    schema: str | None = None
    codes: tuple[int, ...] = (0, 2)
    speaks: bool = False  # to standard error when all is well
    explains: bool = False  # on standard output, beside code 2


VERBS = {
    "json": Verb(("report", "--format", "json"), schema="result"),
    "instances": Verb(("report", "--by", "instance", "--format", "json"), schema="result"),
    "table": Verb(("report",), ("--breakdown",)),
    "md": Verb(("report", "--format", "md")),
    "csv": Verb(("report", "--format", "csv")),
    "html": Verb(("report", "--format", "html")),
    "parquet": Verb(("report", "--format", "parquet", "-o", "{out}.parquet")),
    "png": Verb(("report", "-o", "{out}.png")),
    "timeline": Verb(("report", "-o", "{out}.svg", "--plot", "timeline")),
    "kernels": Verb(("kernels", "--format", "json"), schema="kernels"),
    "operations": Verb(("kernels", "--by", "operation")),
    "trace": Verb(("trace",), ("-o", "{out}.pftrace")),
    "compare": Verb(("compare", "{sound}"), ("--format", "json"), schema="comparison"),
    "check": Verb(("check",), ("--baseline", "{sound}", "--format", "json"), schema="verdict", codes=(0, 1, 2, 3)),
    "slice": Verb(("slice",), ("{out}.sqlite",)),
    "redact": Verb(("slice", "--redact=names"), ("{out}.sqlite",), speaks=True),
    "doctor": Verb(("doctor",), codes=(0, 1, 2), explains=True),
    "save": Verb(("check",), ("--save", "{out}.db"), codes=(0, 1, 2, 3), speaks=True),
}


@dataclass(frozen=True)
class Outcome:
    """How a run ended; a negative `status` is the signal that ended it."""

    verb: Verb
    status: int
    out: bytes
    err: str
    seconds: float


class Command:
    """Runs the command in children of one process that has everything loaded."""

    def __init__(self, folder: Path, sound: Path) -> None:
        """Takes an empty folder to work in, and a report that is sound."""
        self.folder, self.sound = folder, sound
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.fuzz.zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def run(self, verb: Verb, report: Path, *, arrow: bool = False) -> Outcome:
        """Runs a verb on a report; with `arrow`, its rows are read by Arrow however few they are."""
        names = {"{out}": str(self.folder / "out"), "{sound}": str(self.sound)}
        arguments = [*verb.before, str(report), *verb.after]
        for name, path in names.items():
            arguments = [argument.replace(name, path) for argument in arguments]
        out, err = self.folder / "stdout", self.folder / "stderr"
        job = {"arguments": arguments, "out": str(out), "err": str(err), "temporary": str(self.temporary)}
        job |= {"megabytes": MEGABYTES, "seconds": SECONDS, "arrow": arrow}
        answer = self._asked(job)
        return Outcome(
            verb, int(answer["status"]), out.read_bytes(), err.read_text("utf-8", "replace"), answer["seconds"]
        )

    def _asked(self, job: dict[str, Any]) -> dict[str, float]:
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps(job), file=self._process.stdin, flush=True)
        answer: dict[str, float] = json.loads(self._process.stdout.readline())
        return answer

    def complaint(self, verb: Verb, report: Path, *, arrow: bool = False) -> str | None:
        """Runs a verb and says what was wrong with what it did, None if nothing was."""
        for made in self.folder.glob("out.*"):
            made.unlink()
        before = _state(report)
        outcome = self.run(verb, report, arrow=arrow)
        left = [path.name for path in self.temporary.iterdir()]
        made = [path.name for path in self.folder.glob("*out.*")]
        if _state(report) != before:
            return "the report, or its folder, was changed"
        if left:
            return f"left in the temporary folder: {left}"
        if (outcome.status == 2 and made) or any(name.startswith(".") for name in made):
            return f"left beside the output: {made}"
        return judged(outcome)


def judged(outcome: Outcome) -> str | None:
    """What was wrong with a run, None if nothing was."""
    verb, err = outcome.verb, outcome.err
    if outcome.status < 0:
        return f"ended by signal {-outcome.status} after {outcome.seconds:.1f} s"
    if outcome.status not in verb.codes or "Traceback" in err or "this is a bug" in err:
        return f"exit {outcome.status}: {err.strip()}"
    if outcome.status == 2:
        return _wrong_refusal(outcome)
    if err and not verb.speaks:
        return f"exit {outcome.status}, but it said: {err}"
    if verb.schema is not None:
        return _wrong_json(outcome.out, verb.schema)
    return None


def _wrong_refusal(outcome: Outcome) -> str | None:
    lines = outcome.err.splitlines()
    if outcome.verb.explains and outcome.out and not lines:
        return None
    if len(lines) != 1 or not lines[0].startswith("Error: ") or not lines[0].isprintable():
        return f"not one line: {outcome.err!r}"
    return f"exit 2 with output: {outcome.out[:80]!r}" if outcome.out else None


def _wrong_json(out: bytes, schema: str) -> str | None:
    try:
        document = json.loads(out, parse_constant=_no_constant)
    except ValueError as error:
        return f"not JSON: {error}"
    found = next(_validator(schema).iter_errors(document), None)
    return None if found is None else f"against the schema: {found.json_path}: {found.message[:200]}"


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


@cache
def _validator(name: str) -> Any:
    schemas = {
        path.name: json.loads(path.read_text("utf-8"))
        for path in resources.files("nsys_analyze").iterdir()
        if path.name.endswith(".schema.json")
    }
    registry = Registry().with_resources((key, DRAFT202012.create_resource(schema)) for key, schema in schemas.items())
    return jsonschema.Draft202012Validator(schemas[f"{name}.schema.json"], registry=registry)


def _state(report: Path) -> tuple[str, int, list[str]]:
    """The bytes of a report, when it was written, and what lies beside it."""
    digest = hashlib.sha256(report.read_bytes()).hexdigest()
    return digest, report.stat().st_mtime_ns, sorted(path.name for path in report.parent.iterdir())
