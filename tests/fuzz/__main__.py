"""Tries the command on wrong reports for as long as it is told: ``python -m tests.fuzz --minutes 10``.

Every input has a number, from which alone it is made: ``--only N`` makes it again, tries it, and keeps it with
``--keep FOLDER``. Sound reports are those of ``tests/reports`` and drawn ones; half of the inputs have changed tables,
the others changed bytes.
"""

from __future__ import annotations

import argparse
import lzma
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from tests.exports import ExportBuilder
from tests.fuzz.mutations import mutate_bytes, mutate_tables
from tests.fuzz.oracle import VERBS, Command

SAMPLES = Path(__file__).parents[1] / "reports"
_LARGE = 200_000  # bytes; of larger reports, an analysis takes long
_SMALL = ("llama_cudagraphs", "llama_cudagraphs_whole", "llama_eager", "llama_thunder_torch")


def sound_reports(folder: Path, others: list[Path]) -> list[Path]:
    """Writes sound reports: small ones of all kinds, real ones of ``tests/reports``, and those of the user."""
    folder.mkdir()
    made = [
        _small(schema).write(folder / f"small_{schema}.sqlite") for schema in ("2.9.1", "3.0.0", "3.20.3", "3.24.14")
    ]
    for name in _SMALL:
        path = folder / f"{name}.sqlite"
        path.write_bytes(lzma.decompress((SAMPLES / f"{name}.sqlite.xz").read_bytes()))
        made.append(path)
    return made + others


def _small(schema: str) -> ExportBuilder:
    """A report with something in every table that is read."""
    builder = ExportBuilder(schema)
    builder.capture(
        9000, [("CAPTURE_EVENT_TYPE", "Cuda"), ("PROCESS_0:ENVIRONMENT_VARIABLE", "NCCL_DEBUG=INFO")], {"a": "b"}
    )
    builder.gpu(0)
    for pid in (100, 200):
        process = builder.process(pid)
        process.device(0, pid // 100 - 1)
        thread, other = process.thread(), process.thread(pid + 1)
        thread.push_pop("steady", 0, 8000)
        for step in range(6):
            at = 1000 * step
            thread.push_pop(f"step {step}", at, at + 900, domain="stages", registered=step % 2 == 0)
            other.start_end("server", at + 5, at + 700)
            thread.call("cudaLaunchKernel_v7000", at + 10, at + 30, doubled=step == 3).kernel("gemm", at + 50, at + 400)
            other.call("cudaMemcpyAsync_v3020", at + 40, at + 60).memcpy(at + 410, at + 500)
            thread.call("cudaGraphLaunch_v10000", at + 100, at + 120).graph_trace(at + 510, at + 600)
            thread.call("cuModuleLoadData", at + 200, at + 210)
        thread.profiler_overhead("TLS allocation", 10, 20)
        thread.mark("here", 5)
    return builder


def made_input(number: int, sound: list[Path], path: Path) -> list[str]:
    """Makes the input of a number; says how."""
    random = Random(number)
    small = [path for path in sound if path.stat().st_size < _LARGE]
    origin = random.choice(small if random.randrange(6) else sound)
    shutil.copyfile(origin, path)
    done = []
    if random.randrange(2):
        done += mutate_tables(path, random)
    if not done or not random.randrange(8):
        done += mutate_bytes(path, random)
    return [origin.name, *done]


def main() -> int:
    """Fuzzes; returns 1 if something was found."""
    options = _options()
    found: dict[str, int] = {}
    tried: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder = Path(name)
        sound = sound_reports(folder / "sound", options.report)
        (folder / "in").mkdir()
        (folder / "work").mkdir()
        path = folder / "in" / "report.sqlite"
        with Command(folder / "work", sound[2]) as command:
            for number in _numbers(options):
                how = made_input(number, sound, path)
                verbs = list(VERBS) if options.only is not None else [list(VERBS)[number % len(VERBS)], "json"]
                for verb in dict.fromkeys(verbs):
                    tried[verb] += 1
                    complaint = command.complaint(VERBS[verb], path, arrow=number % 3 == 0)
                    if complaint is None:
                        continue
                    first = found.setdefault(complaint, number) == number
                    if first or options.only is not None:
                        print(f"{number} {verb}: {complaint}\n    {'; '.join(how)}", flush=True)
                if options.keep:
                    shutil.copy(path, Path(options.keep) / f"{number}.sqlite")
    print(f"{tried.total():,} runs on {tried['json']:,} inputs, {len(found)} kinds of failure; {dict(tried)}")
    return 1 if found else 0


def _numbers(options: argparse.Namespace) -> Iterator[int]:
    if options.only is not None:
        yield options.only
        return
    deadline, number = time.monotonic() + 60 * options.minutes, options.start
    while time.monotonic() < deadline:
        yield number
        number += 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--start", type=int, default=0, help="number of the first input")
    parser.add_argument("--only", type=int, help="number of the one input to try, with every verb")
    parser.add_argument("--keep", metavar="FOLDER", help="where to keep the inputs")
    parser.add_argument("report", nargs="*", type=Path, help="more sound reports to begin with")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
