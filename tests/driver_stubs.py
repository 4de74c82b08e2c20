"""Stand-ins for nsys and for an interpreter with PyTorch: programs that note how they were called."""

from __future__ import annotations

import json
import sys
from pathlib import Path

NSYS = """#!{python}
import json, os, shutil, subprocess, sys
from pathlib import Path

arguments = sys.argv[1:]
if arguments[0] == "--version":
    print("NVIDIA Nsight Systems version 2025.3.1.90-253135822126v0")
    sys.exit()
with open({calls!r}, "a") as file:
    file.write(json.dumps(["nsys", *arguments]) + "\\n")
target = Path(arguments[arguments.index("--output") + 1].replace("%q{{RANK}}", os.environ.get("RANK", "")))
if arguments[0] == "export":
    shutil.copy({export!r}, target)
    sys.exit()
program = next(i for i, word in enumerate(arguments) if i and os.path.isabs(word) and os.access(word, os.X_OK))
code = subprocess.run(arguments[program:]).returncode
if os.environ.get("STUB_NSYS") == "no report":
    sys.exit("Importer error: it broke")
Path(f"{{target}}.nsys-rep").write_bytes(b"NVIDIA Tegra Profiler Report 2025@3@1@90-x\\n" + bytes(512))
if os.environ.get("STUB_NSYS") == "bad export":
    Path(f"{{target}}.sqlite").write_bytes(b"SQLite format 3" + bytes(600))
elif "--export" in arguments:
    shutil.copy({export!r}, f"{{target}}.sqlite")
sys.exit(code)
"""

PYTHON = """#!{python}
import json, os, sys, time
from pathlib import Path

arguments = sys.argv[1:]
if "--no-python" in arguments:  # torchrun: a program for each rank
    import subprocess
    count = int(arguments[arguments.index("--nproc-per-node") + 1])
    words = arguments[arguments.index("--no-python") + 1 :]
    sys.exit(max(subprocess.run(words, env={{**os.environ, "RANK": str(rank)}}).returncode for rank in range(count)))
names = ("TORCHINDUCTOR_CACHE_DIR", "FLAG", "STUB_PROFILED")
with open({calls!r}, "a") as file:
    file.write(json.dumps(["python", {{name: os.environ.get(name) for name in names}}, *arguments]) + "\\n")
executor = arguments[arguments.index("--executor") + 1]
if executor == "torchscript":
    sys.exit("nsys-analyze workload: torchscript: not today")
if executor == "aot_eager":
    raise ZeroDivisionError("a bug")
if executor == "cudagraphs":
    import subprocess
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    Path({calls!r} + ".sleeping").touch()
    time.sleep(60)
if "STUB_ENDING" in os.environ:
    os.kill(os.getpid(), int(os.environ["STUB_ENDING"])) if int(os.environ["STUB_ENDING"]) else sys.exit(0)
agreement = None
if "--check" in arguments:
    agrees = executor != "thunder"
    agreement = {{"output": 0.001 if agrees else 0.5, "tolerance": 0.02, "agrees": agrees}}
outcome = {{"stages_ns": {{"import": 5, "compile": 7}}, "step_ns": [3e6, 1e6, 2e6], "steps": 10, "clock": "cuda events",
    "sizes": {{"batch": 1}}, "agreement": agreement, "machine": {{"gpu": "NVIDIA H200"}}}}
Path(arguments[arguments.index("--outcome") + 1]).write_text(json.dumps(outcome))
"""


class Stubs:
    """The two programs in a folder, and what was asked of them."""

    def __init__(self, folder: Path, export: Path) -> None:
        self.calls_file = folder / "calls"
        self.export = export
        self.nsys, self.python = folder / "nsys", folder / "python-with-torch"
        for path, source in ((self.nsys, NSYS), (self.python, PYTHON)):
            path.write_text(source.format(python=sys.executable, calls=str(self.calls_file), export=str(export)))
            path.chmod(0o755)

    def calls(self, program: str) -> list[list]:
        """The arguments of each call, in order."""
        lines = self.calls_file.read_text().splitlines() if self.calls_file.exists() else []
        return [call[1:] for call in map(json.loads, lines) if call[0] == program]
