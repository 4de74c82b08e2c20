"""Lightning Thunder with nvFuser."""

from __future__ import annotations

from typing import Any

from nsys_analyze.driver.executors.thunder import Thunder
from nsys_analyze.errors import UsageError


class ThunderNvFuser(Thunder):
    """Lets nvFuser make kernels of what it can fuse; PyTorch does the rest."""

    needs_cuda = True

    def load(self) -> None:
        """Imports Thunder and finds nvFuser.

        Raises:
            UsageError: If one of them is missing.
        """
        super().load()
        self.nvfuser = self.thunder.extend.get_executor("nvfuser")
        if self.nvfuser is None:
            raise UsageError(
                "thunder_nvfuser: Thunder finds no nvFuser; install the wheel for your CUDA and PyTorch,"
                " such as nvfuser-cu130-torch210, and check that `import nvfuser` works"
            )

    def backends(self) -> list[Any]:
        """Thunder's executors, the preferred one first."""
        return [self.nvfuser, self.thunder.pytorch_executor]
