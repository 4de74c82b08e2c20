"""Runs `run_workload` under any interpreter, for which this package need not be installed.

It makes this very package importable and nothing else of the environment that it is installed in: putting its folder on
PYTHONPATH would offer the workload the packages of another interpreter.
"""

import importlib.util
import sys
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def _make_importable() -> None:
    spec = importlib.util.spec_from_file_location(
        "nsys_analyze", _PACKAGE / "__init__.py", submodule_search_locations=[str(_PACKAGE)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"no package in {_PACKAGE}")
    sys.modules["nsys_analyze"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


if __name__ == "__main__":
    sys.path.pop(0)  # this folder, whose modules are none of the workload's
    if "nsys_analyze" not in sys.modules:
        _make_importable()
    from nsys_analyze.driver.run_workload import main

    sys.exit(main())
