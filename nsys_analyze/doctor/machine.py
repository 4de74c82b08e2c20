"""What this machine needs to make captures: nsys, a driver, packages, and versions that work together."""

from __future__ import annotations

import platform
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from nsys_analyze.doctor.answers import Answer, Diagnosis, Finding, no, partly, yes
from nsys_analyze.ingest.nsys import installed_nsys
from nsys_analyze.metrics.versions import Version, conflicts, dotted, is_older_than_driver, newest_cuda, version

_DRIVER_FILE = Path("/proc/driver/nvidia/version")
_INSTALL_NSYS = "install Nsight Systems (developer.nvidia.com/nsight-systems), or set NSYS to it"
_SECONDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What is installed: nsys as (path, version), the driver's version and its newest CUDA, packages by name."""

    nsys: tuple[str, str | None] | None
    driver: str | None
    cuda: str | None
    packages: dict[str, str]


def examine_machine() -> Diagnosis:
    """Says whether captures can be made here. Looks at versions only, nothing is imported."""
    machine = Machine(nsys=installed_nsys(), driver=_driver(), cuda=_cuda(), packages=_packages("nvtx", "torch"))
    asked: tuple[tuple[str, str, bool, Callable[[Machine], Finding]], ...] = (
        ("nsys", "nsys", True, _nsys),
        ("driver", "NVIDIA driver", True, _driver_found),
        ("nsys-driver", "nsys and the driver", False, _nsys_and_driver),
        ("nvtx", "the package nvtx", False, _nvtx),
        ("torch", "the package torch", False, _torch),
    )
    return Diagnosis(
        subject="this machine",
        facts=[f"Python {platform.python_version()}", platform.system()],
        answers=[
            Answer(question=name, title=title, needed=needed, finding=ask(machine))
            for name, title, needed, ask in asked
        ],
    )


def _nsys(machine: Machine) -> Finding:
    if machine.nsys is None:
        return no("neither NSYS nor PATH leads to it", remedy=_INSTALL_NSYS)
    path, found = machine.nsys
    return yes(f"{found}, {path}") if found else no(f"{path} does not run", remedy=_INSTALL_NSYS)


def _driver_found(machine: Machine) -> Finding:
    if machine.driver is None:
        why = "no NVIDIA driver: ranges can be captured here, GPU work cannot"
        return no(why, remedy="install the GPU's driver (nvidia.com/drivers); in a container, start it with --gpus all")
    return yes(f"{machine.driver}, for CUDA up to {machine.cuda}" if machine.cuda else machine.driver)


def _nsys_and_driver(machine: Machine) -> Finding:
    nsys, cuda = _nsys_version(machine), version(machine.cuda)
    newest = newest_cuda(nsys)
    if nsys is None or cuda is None:
        return partly("cannot be told without both")
    if newest is None:
        return yes(f"nothing is known against nsys {dotted(nsys)} with CUDA {dotted(cuda)}")
    if is_older_than_driver(nsys, cuda):
        why = f"nsys {dotted(nsys)} knows CUDA up to {dotted(newest)}, and the driver is of CUDA {dotted(cuda)}"
        return no(why, remedy="install a newer nsys: kernels may get lost")
    return yes(f"nsys {dotted(nsys)} knows CUDA up to {dotted(newest)}")


def _nvtx(machine: Machine) -> Finding:
    found = machine.packages.get("nvtx")
    if found is None:
        return partly("not installed; torch.cuda.nvtx annotates as well", remedy="pip install nvtx")
    installed = version(found)
    for conflict in conflicts(_nsys_version(machine)):
        if conflict.package == "nvtx" and installed is not None and installed >= conflict.since:
            newer, older = dotted(conflict.nsys_before), dotted(conflict.since)
            why = f"{found}, of which this nsys records nothing"
            return no(why, remedy=f"install nsys {newer} or newer, or pip install 'nvtx<{older}'")
    return yes(found)


def _torch(machine: Machine) -> Finding:
    found = machine.packages.get("torch")
    if found is None:
        return partly("not installed; only programs that use it need it")
    if found.endswith("+cpu"):
        return partly(f"{found}, a build without CUDA", remedy="install a build for CUDA (pytorch.org)")
    driver, built = version(machine.cuda), re.search(r"\+cu(\d+)\d$", found)
    if driver and built and int(built[1]) > driver[0]:
        why = f"{found}, a build for CUDA {built[1]}, and the driver is of CUDA {dotted(driver)}"
        return no(why, remedy=f"install a newer driver, or a build for CUDA {driver[0]} (pytorch.org)")
    return yes(found)


def _nsys_version(machine: Machine) -> Version | None:
    return version(machine.nsys[1]) if machine.nsys else None


def _packages(*names: str) -> dict[str, str]:
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _driver() -> str | None:
    try:
        text = _DRIVER_FILE.read_text("utf-8", errors="replace")
    except OSError:
        return _smi(r"Driver Version:\s*([\d.]+)")
    found = re.search(r"Kernel Module.*?\s(\d+\.\d+(?:\.\d+)?)\s", text)
    return found[1] if found else None


def _cuda() -> str | None:
    return _smi(r"CUDA Version:\s*(\d+\.\d+)")


def _smi(pattern: str) -> str | None:
    """What nvidia-smi says, None where there is none or it fails."""
    try:
        said = subprocess.run(
            ["nvidia-smi"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(pattern, said)
    return found[1] if found else None
