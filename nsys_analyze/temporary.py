"""Folders for what is needed for a while."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Makes a folder that goes when the context ends, also where an interrupt comes while it is going."""
    folder = tempfile.TemporaryDirectory(prefix="nsys-analyze-")
    try:
        yield Path(folder.name)
    finally:
        try:
            folder.cleanup()
        except BaseException:
            shutil.rmtree(folder.name, ignore_errors=True)
            raise
