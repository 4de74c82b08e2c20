"""torch.compile without a compiler behind it: the cost of Dynamo and AOTAutograd alone."""

from __future__ import annotations

from typing import Any

from nsys_analyze.driver.executors.torch_compile import TorchCompile


class AotEager(TorchCompile):
    """Runs the traced graphs operation by operation."""

    labels = True
    labels_modules = True

    def options(self) -> dict[str, Any]:
        """Arguments of torch.compile."""
        if self.choice is None:
            return {"backend": "aot_eager"}
        from nsys_analyze.driver.labels.graph import labelling_backend

        return {"backend": labelling_backend(self.choice)}
