"""Makes sample reports of what `nsys-analyze capture` left in folders.

    python benchmarks/make_samples.py out/llama out/vit --case llama-eager --case vit-train-eager --into samples

Each export is packed (.sqlite.xz), and redacted before, unless it was captured redacted; the record of the case lies
beside it, so that times without the profiler are there, too. Without ``--case``, all cases are taken. All samples of
a repository should be small: with more than ``--limit`` MB in the folder, it says so and exits with 1.
"""

from __future__ import annotations

import argparse
import lzma
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from nsys_analyze.driver.records import Record, read_records, write_record
from nsys_analyze.slicing import redact_in_place

MB = 1e6


def chosen(folders: list[Path], names: list[str]) -> list[tuple[Path, Record]]:
    """The cases of all folders by those names, each once."""
    found: dict[str, tuple[Path, Record]] = {}
    for folder in folders:
        for record in read_records(folder):
            name = record["name"]
            if names and name not in names:
                continue
            if name in found:
                sys.exit(f"{name}: in {found[name][0]} and in {folder}; make samples of one of them")
            found[name] = (folder, record)
    missing = [name for name in names if name not in found]
    if missing or not found:
        sys.exit(f"no case {', '.join(missing)} in these folders" if missing else "no cases in these folders")
    return list(found.values())


def make(folder: Path, record: Record, into: Path) -> None:
    """Packs the reports of a case, and writes its record beside them."""
    redaction = record.get("redaction", "none")
    for name in record["reports"]:
        with tempfile.TemporaryDirectory() as temporary:
            export = Path(temporary, name)
            shutil.copy(folder / name, export)
            if redaction == "none":
                redact_in_place(export, "machine")
            packed = into / f"{name}.xz"
            packed.write_bytes(lzma.compress(export.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
        print(f"{packed.stat().st_size:>9,}  {packed}")
    kept: dict[str, Any] = {key: value for key, value in record.items() if key != "schema_version"}
    reports = [f"{name}.xz" for name in record["reports"]]
    write_record(into, record["name"], {**kept, "redaction": redaction.replace("none", "machine"), "reports": reports})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--case", action="append", default=[], dest="cases", help="the name of a case; repeatable")
    parser.add_argument("--into", type=Path, default=Path("sample_reports"))
    parser.add_argument("--limit", type=float, default=4.0, help="MB that the folder may have")
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    for folder, record in chosen(options.folders, options.cases):
        make(folder, record, options.into)
    size = sum(path.stat().st_size for path in options.into.rglob("*") if path.is_file())
    print(f"{size:>9,}  bytes in {options.into}, of {options.limit:g} MB")
    return int(size > options.limit * MB)


if __name__ == "__main__":
    sys.exit(main())
