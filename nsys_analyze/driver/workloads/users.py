"""A workload of the user's own: ``module:function`` names a function that builds it.

The function may take ``device``, ``dtype`` (a torch.dtype) and whole numbers with defaults, which are its sizes
(``batch=8``). It returns a `Model`, or a module and its inputs: one tensor or a tuple of arguments.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from nsys_analyze.driver.workloads import Model, Workload
from nsys_analyze.errors import UsageError


def load(name: str) -> Workload:
    """Imports the function; the working folder counts.

    Raises:
        UsageError: If there is no such module or function.
    """
    module, _, function = name.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        build = getattr(import_module(module), function)
    except ModuleNotFoundError as error:
        raise UsageError(f"{name}: {error}; it must be importable from here or be on PYTHONPATH") from error
    except AttributeError as error:
        raise UsageError(f"{name}: {module} has no function '{function}'") from error
    if not callable(build):
        raise UsageError(f"{name}: {function} is no function; name one that builds the model")
    parameters = inspect.signature(build).parameters
    sizes = {each.name: each.default for each in parameters.values() if type(each.default) is int}
    return Workload(name=name, sizes=sizes, build=_adapted(name, build, set(parameters)))


def _adapted(name: str, build: Callable[..., Any], takes: set[str]) -> Callable[..., Model]:
    def adapted(**given: Any) -> Model:
        made = build(**{key: value for key, value in given.items() if key in takes})
        if isinstance(made, Model):
            return made
        if not isinstance(made, tuple) or len(made) != 2:
            raise UsageError(f"{name}: returns {type(made).__name__}; it should return (module, inputs) or a Model")
        module, inputs = made
        return Model(module=module, inputs=inputs if isinstance(inputs, tuple) else (inputs,))

    return adapted
