"""Workloads under executors, on the CPU and in this process; only ranks need processes of their own."""

from __future__ import annotations

import contextlib
import itertools
import json
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

from nsys_analyze.driver import annotate, executors, run_workload, staged, workloads
from nsys_analyze.driver.labels.choice import Choice
from nsys_analyze.driver.profiling import BOOTSTRAP
from nsys_analyze.driver.request import Request, parse
from nsys_analyze.errors import UsageError
from tests.test_annotate import Domain

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore")

SMALL = {
    "mlp": {},
    "llama": {"hidden": 64, "heads": 4, "kv_heads": 2, "intermediate": 96, "layers": 2},
    "vit": {"hidden": 48, "heads": 3, "layers": 2, "image": 32, "classes": 10},
}


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def stack():
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.fixture
def events(monkeypatch):
    """What a recording nvtx is told."""
    events, domain = [], {}

    def native(message, color=None, domain=None):
        where = domains.setdefault(domain, Domain(domain, events))
        return types.SimpleNamespace(domain=where, attributes=(message, domain))

    domains = domain
    monkeypatch.setitem(sys.modules, "nvtx", types.SimpleNamespace(annotate=native))
    annotate._remembered.cache_clear()
    yield events
    annotate._remembered.cache_clear()


def request(workload="mlp", executor="eager", **options):
    options = {"device": "cpu", "dtype": "fp32", "steps": 2, "warmup": 1, "check": True, **options}
    return Request(workload=workload, executor=executor, sizes=SMALL.get(workload, {}), **options)


def opened(events, domain):
    """The ranges of a domain with their depth among all push/pop ranges, in order."""
    depth, found = 0, []
    for event in events:
        if event[0] == "push":
            if event[2] == domain:
                found.append((depth, event[1]))
            depth += 1
        elif event[0] == "pop":
            depth -= 1
        elif event[0] == "start" and event[3] == domain:
            found.append((depth, event[2]))
    assert depth == 0
    return found


@pytest.mark.parametrize(
    ("workload", "executor", "train"),
    [
        *itertools.product(["mlp"], ["eager", "torchscript", "aot_eager"], [False, True]),
        *[("llama", "torchscript", True), ("llama", "aot_eager", False)],
        *[("vit", "eager", True), ("vit", "torchscript", False)],
    ],
)
def test_executors_agree_with_eager_mode(workload, executor, train):
    outcome = staged.run(request(workload, executor, train=train, repeats=2))
    assert outcome["agreement"]["agrees"]
    assert list(outcome["stages_ns"]) == ["import", "build", "compile", "warmup", "steady"]
    assert len(outcome["step_ns"]) == 2
    assert min(outcome["step_ns"]) > 0
    assert outcome["sizes"].items() >= SMALL[workload].items()
    assert outcome["machine"]["torch"] == torch.__version__


@pytest.mark.skipif(shutil.which("g++") is None, reason="Inductor needs a C++ compiler")
def test_inductor(events, tmp_path, monkeypatch, stack):
    from torch._inductor import config

    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    for key, value in {"cpp_cache_precompile_headers": False, "cpp.simdlen": 1}.items():  # compiles less
        stack.enter_context(config.patch(key, value))
    outcome = staged.run(request(executor="inductor", ops="*relu*|addmm", regions=("addmm..relu",)))
    assert outcome["agreement"]["agrees"]
    steps = events[events.index(("push", "step 1", "stages")) : events.index(("push", "step 2", "stages"))]
    assert [name for _, name in opened(steps, "ops")] == ["addmm..relu", "addmm", "cpp_fused_relu_0"] * 2


def test_labels_of_what_inductor_generated(events):
    from nsys_analyze.driver.labels.inductor import _Labeller

    def run(number, stream):
        return number + stream

    def relu(number):
        return number * 2

    def mm(number, out):
        return number - out

    libraries = types.SimpleNamespace(mm=mm, addmm=relu)
    kernel = types.SimpleNamespace(run=run, name="fused")
    module = types.SimpleNamespace(triton_poi_fused_add_mul_0=kernel, cpp_fused_relu_1=relu, extern_kernels=libraries)
    _Labeller(Choice(ops="add|mm")).label_module(module)
    assert module.triton_poi_fused_add_mul_0.run(3, stream=4) == 7
    assert module.triton_poi_fused_add_mul_0.name == "fused"
    assert module.extern_kernels.mm(3, out=1) == 2
    assert [event[:2] for event in events] == [
        *[("push", "triton_poi_fused_add_mul_0"), ("pop", "ops")],
        *[("push", "mm"), ("pop", "ops")],
    ]
    assert module.cpp_fused_relu_1 is relu
    assert module.extern_kernels.addmm is relu
    kernel.run = lambda number, stream: 0  # as a tuned kernel does
    assert module.triton_poi_fused_add_mul_0.run(3, stream=4) == 0


def test_stages_and_steps_are_ranges(events):
    staged.run(request(train=True))
    passes = [(1, "forward"), (1, "backward")]
    assert opened(events, "stages") == [
        *[(0, "import"), (0, "build"), (0, "compile"), *passes],
        *[(0, "warmup"), *passes, (1, "optimizer"), (0, "steady")],
        *[(1, "step 1"), (2, "forward"), (2, "backward"), (2, "optimizer")],
        *[(1, "step 2"), (2, "forward"), (2, "backward"), (2, "optimizer")],
    ]


def test_a_difference_is_found(monkeypatch):
    class Wrong(executors.Executor):
        def compile(self, model):
            return lambda *inputs: model.module(*inputs) * 1.1

    def entry_points(group, name=None):
        point = types.SimpleNamespace(name="wrong", load=lambda: Wrong)
        return [point] if (group, name) == (executors.GROUP, "wrong") else types.SimpleNamespace(names=["wrong"])

    monkeypatch.setattr(executors, "entry_points", entry_points)
    assert executors.known_names()[-1] == "wrong"
    agreement = staged.run(request(executor="wrong"))["agreement"]
    assert not agreement["agrees"]
    assert agreement["output"] == pytest.approx(0.1)
    agreement = staged.run(request(executor="wrong", train=True))["agreement"]
    assert agreement["gradient"] == pytest.approx(0.21, rel=1e-4)  # of a mean square, so 1.1 squared


def timm(names):
    """What is used of timm: models by their name."""

    def create_model(name, pretrained):
        assert not pretrained
        module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 8 * 8, 5))
        module.default_cfg, module.num_classes = {"input_size": (3, 8, 8)}, 5
        return module

    listed = lambda pattern: [name for name in names if pattern.strip("*") in name]  # noqa: E731
    return types.SimpleNamespace(is_model=names.__contains__, list_models=listed, create_model=create_model)


@pytest.mark.parametrize("train", [False, True])
def test_a_model_of_timm(monkeypatch, train):
    monkeypatch.setitem(sys.modules, "timm", timm(["tiny_net", "tiny_vit"]))
    outcome = staged.run(request("tiny_net", train=train, executor="torchscript"))
    assert outcome["agreement"]["agrees"]
    assert outcome["sizes"] == {"batch": 1}
    model = workloads.load("tiny_net").built(torch.device("cpu"), torch.bfloat16, {"batch": 3})
    assert model.module(*model.inputs).shape == (3, 5)
    with pytest.raises(
        UsageError, match=r"^tiny: neither a workload nor a model of timm; near it: tiny_net, tiny_vit$"
    ):
        workloads.load("tiny")


@pytest.mark.parametrize("name", ["resnet18", "vit_tiny_patch16_224"])
def test_models_that_timm_has(name):
    pytest.importorskip("timm")
    model = workloads.load(name).built(torch.device("cpu"), torch.float32, {"batch": 2})
    assert model.module(*model.inputs).shape == (2, 1000)


@pytest.mark.parametrize("workload", SMALL)
def test_weights_and_inputs_come_from_the_seed(workload):
    def built(seed):
        torch.manual_seed(seed)
        model = workloads.load(workload).built(torch.device("cpu"), torch.float32, SMALL[workload])
        return model.module(*model.inputs)

    assert torch.equal(built(1), built(1))
    assert not torch.equal(built(1), built(2))


def test_llama_is_that_of_the_published_sizes():
    sizes = workloads.load("llama").sizes
    with torch.device("meta"):
        model = workloads.load("llama").built(torch.device("meta"), torch.bfloat16, {})
    # attention 2 x 2048 x 2048 + 2 x 2048 x 512, MLP 3 x 2048 x 8192, three norms
    assert sum(each.numel() for each in model.module.parameters()) == 10_485_760 + 50_331_648 + 3 * 2048
    assert model.inputs[0].shape == (1, 6, 2048)
    assert sizes["batch"] == 1


def test_vit_is_of_the_published_size():
    with torch.device("meta"):
        model = workloads.load("vit").built(torch.device("meta"), torch.float32, {"batch": 4})
    assert sum(each.numel() for each in model.module.parameters()) == 86_567_656
    assert model.module(*model.inputs).shape == (4, 1000)


USERS = """
import torch
def pair(batch=2, *, dtype): return torch.nn.Linear(3, 4).to(dtype), torch.ones(batch, 3, dtype=dtype)
def wrong(): return 5
number = 5
"""


def test_a_workload_of_ones_own(tmp_path, monkeypatch):
    (tmp_path / "mine_for_tests.py").write_text(USERS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    loaded = workloads.load("mine_for_tests:pair")
    assert loaded.sizes == {"batch": 2}
    model = loaded.built(torch.device("cpu"), torch.bfloat16, {"batch": 5})
    assert model.module(*model.inputs).shape == (5, 4)
    for name, message in (
        ("mine_for_tests:wrong", "returns int; it should return"),
        ("mine_for_tests:absent", "has no function 'absent'"),
        ("mine_for_tests:number", "number is no function"),
        ("no_such_module:f", "No module named 'no_such_module'"),
    ):
        with pytest.raises(UsageError, match=message):
            workloads.load(name).built(None, None, {})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"executor": "fancy"}, "fancy: no such executor; there are: eager, torchscript"),
        ({"executor": "cudagraphs"}, "needs a GPU; leave it out with --device cpu"),
        ({"executor": "thunder"}, "pip install lightning-thunder"),
        ({"workload": "nothing"}, "pip install timm torchvision"),
        ({"executor": "torchscript", "ops": "mm"}, "its operations cannot be labelled"),
        ({"executor": "inductor", "regions": ("layers.0",)}, "--region layers.0 means nothing to it"),
        ({"window": "steady"}, "--from needs a GPU"),
        ({"parallel": "ddp"}, "needs --train"),
        ({"parallel": "fsdp", "executor": "torchscript"}, "cannot run a model that fsdp wrapped"),
        ({"device": "cuda"}, "PyTorch finds no GPU"),
    ],
)
def test_what_cannot_be_is_said(options, message, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "thunder", None)
    monkeypatch.setitem(sys.modules, "timm", None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert run_workload.main(request(**options).arguments()) == 2
    err = capsys.readouterr().err
    assert err.startswith(run_workload.COMPLAINT)
    assert message in err
    assert len(err.splitlines()) == 1


def test_an_unknown_size(capsys):
    arguments = ["mlp", "--device", "cpu", "--size", "depth=3"]
    assert run_workload.main(arguments) == 2
    assert "mlp: no size 'depth' to set; it has batch=8, layers=2, hidden=64" in capsys.readouterr().err


def test_labels_in_eager_mode(events):
    choice = {"ops": "linear|ADDMM|mm", "regions": ("addmm..relu", "2")}
    staged.run(request(train=True, check=False, **choice))
    steps = events[events.index(("push", "step 1", "stages")) : events.index(("push", "step 2", "stages"))]
    assert [name for _, name in opened(steps, "ops")] == [
        *["Linear 0", "addmm..relu", "addmm"],
        *["2", "addmm..relu", "addmm"],
        *["mm", "mm", "mm"],  # the backward pass: no gradient of the input
    ]


def test_labels_in_a_graph(events):
    staged.run(request(executor="aot_eager", ops="addmm|relu", regions=("addmm..relu", "2")))
    steps = events[events.index(("push", "step 1", "stages")) : events.index(("push", "step 2", "stages"))]
    assert [name for _, name in opened(steps, "ops")] == [
        *["addmm..relu", "addmm", "relu"],
        *["2", "addmm..relu", "addmm", "relu"],
    ]
    assert [event[0] for event in steps].count("start") == [event[0] for event in steps].count("end") == 3


def test_hooks_go_with_the_labels(events):
    from nsys_analyze.driver.labels.eager import label_eager

    module = torch.nn.Sequential(torch.nn.Linear(2, 2))
    with label_eager(module, Choice(ops="linear")):
        module(torch.ones(1, 2))
    count = len(events)
    module(torch.ones(1, 2))
    assert len(events) == count == 2


def test_patterns_of_operations():
    choice = Choice(ops="Linear|nvFusion*|a[1]?", regions=("mm..add", "layers.*.mlp"))
    assert [choice.takes(name) for name in ("linear", "nvfusion0", "linear1", "a[1]2", "a12")] == [
        *(True, True, False, True, False)
    ]
    assert choice.takes_module("layers.3.mlp")
    assert not choice.takes_module("mm..add")
    (stretch,) = choice.stretches()
    assert [stretch.opens(["mm"]), stretch.opens(["mm"]), stretch.closes(["mul"]), stretch.closes(["add"])] == [
        *(True, False, False, True)
    ]
    assert Choice.of(None, ()) is None
    assert not Choice(regions=("a..b",)).takes("a")


@pytest.mark.parametrize(("rank", "asked", "expected"), [(0, None, True), (1, None, True), (1, 0, False), (1, 1, True)])
def test_the_window_opens_before_its_stage(events, monkeypatch, rank, asked, expected):
    monkeypatch.setattr(staged, "cuda_profiler", lambda what: events.append((f"window {what}",)))
    monkeypatch.setenv("RANK", str(rank))
    run = staged.Staged(request(window="warmup", window_rank=asked, check=False))
    monkeypatch.setattr(staged, "_check", lambda *_: None)
    with run.stage("import"):
        run.load()
    run.run()
    seen = [event[0] for event in events if len(event) == 1]
    assert seen == (["window start", "window stop"] if expected else [])
    if expected:
        assert events[events.index(("window start",)) + 1] == ("push", "warmup", "stages")
        assert events[-1] == ("window stop",)


def test_a_command_line_says_all_of_a_request():
    first = Request(
        workload="llama",
        executor="inductor",
        sizes={"batch": 4, "seq": 8},
        train=True,
        check=True,
        compile_phases=True,
        ops="linear|mm",
        regions=("a..b", "layers.0"),
        window="steady",
        window_rank=0,
        parallel="fsdp",
        steps=7,
    )
    assert parse([*first.arguments(), "--outcome", "x.json"]) == (first, "x.json")
    assert parse(Request(workload="mlp").arguments()) == (Request(workload="mlp"), None)


def test_the_process_imports_no_more_than_it_may(tmp_path):
    """Under an interpreter that has PyTorch alone, and for which the package is not installed."""
    blocked = ("click", "pandas", "pyarrow", "rich", "scipy", "matplotlib", "adbc_driver_sqlite")
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nfor name in {blocked}: sys.modules[name] = None\n")
    outcome = tmp_path / "outcome.json"
    subprocess.run(
        [sys.executable, str(BOOTSTRAP), "mlp", "--device", "cpu", "--check", "--outcome", str(outcome)],
        env={"PYTHONPATH": str(tmp_path), "OMP_NUM_THREADS": "1"},
        cwd=tmp_path,
        check=True,
    )
    assert json.loads(outcome.read_text())["agreement"]["agrees"]


@pytest.mark.parametrize("parallel", ["fsdp", "ddp"])
def test_two_ranks_share_a_model(tmp_path, parallel):
    outcome = tmp_path / "outcome.json"
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    asked = request(train=True, parallel=parallel).arguments()
    subprocess.run(
        [*torchrun, str(BOOTSTRAP), *asked, "--outcome", str(outcome)], cwd=tmp_path, check=True, capture_output=True
    )
    assert json.loads(outcome.read_text())["agreement"]["agrees"]
    assert [path.name for path in Path(tmp_path).iterdir()] == ["outcome.json"]


@pytest.mark.parametrize("parallel", ["fsdp", "ddp"])
@pytest.mark.parametrize(
    ("executor", "window", "told_in"), [("eager", None, "build"), ("aot_eager", "steady", "steady")]
)
def test_a_rank_alone(monkeypatch, events, parallel, executor, window, told_in):
    """The same in this process; the range named after its rank lies where the capture begins."""
    monkeypatch.setattr(staged, "cuda_profiler", lambda _: None)
    monkeypatch.setattr(staged, "_check", lambda *_: None)
    for name, value in {"RANK": 0, "WORLD_SIZE": 1, "MASTER_ADDR": "localhost", "MASTER_PORT": 0}.items():
        monkeypatch.setenv(name, str(value))
    outcome = staged.run(request(train=True, parallel=parallel, executor=executor, window=window))
    assert outcome["agreement"]["agrees"]
    assert not torch.distributed.is_initialized()
    ranges = opened(events, "stages")
    assert [ranges[place - 1 : place + 1] for place, (_, name) in enumerate(ranges) if name.startswith("rank")] == [
        [(0, told_in), (1, "rank 0")]
    ]
