"""Files and folders that are there for a while only: no signal comes between one and what removes it.

While a frame of this module runs, the command line lets signals wait; see `nsys_analyze.cli.main`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def temporary_folder(parent: Path | None = None, prefix: str = "nsys-analyze-") -> Iterator[Path]:
    """Makes a folder that goes when the context ends, also where an interrupt comes while it is going."""
    folder = tempfile.TemporaryDirectory(dir=parent, prefix=prefix)
    try:
        yield Path(folder.name)
    finally:
        try:
            folder.cleanup()
        except BaseException:
            shutil.rmtree(folder.name, ignore_errors=True)
            raise


@contextmanager
def replacing(path: Path, mode: int = 0o644) -> Iterator[BinaryIO]:
    """Opens a file that takes the place of ``path`` when the block ends well; else all stays as it was.

    Raises:
        OSError: It cannot be written.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
