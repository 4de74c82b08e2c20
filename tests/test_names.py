"""Folded names of ranges, and what the name of an API call tells."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsys_analyze import cli
from nsys_analyze.errors import UsageError
from nsys_analyze.metrics.wording import program_name
from nsys_analyze.model.calls import CallKind, CallPart, base_name, call_class
from nsys_analyze.model.folding import compile_patterns, fold_name
from tests.bruteforce_load import fold as oracle

THUNDER_LINE = 't0 = torch.nn.functional.linear(x, w, b)  # t0: "cuda:0 f32[4, 4096]"'


@pytest.mark.parametrize(
    ("name", "folded"),
    [
        ("step 12", "step"),
        ("step -1", "step"),
        ("step +3", "step"),
        ("step=4", "step"),
        ("request#7", "request"),
        ("request #7", "request"),
        ("batch = 7", "batch"),
        ("step_3", "step"),
        ("iter_003", "iter"),
        ("epoch_10", "epoch"),
        ("batch_-1", "batch"),
        ("request_99", "request"),
        ("train_step_3", "train_step"),
        ("microbatch_2", "microbatch"),
        ("layer 3 step 12", "layer 3 step"),
        ("step 12, op_id = 7", "step"),
        ("step\n12 7", "step\n12"),
    ],
)
def test_a_trailing_number_goes(name, folded):
    assert fold_name(name) == folded


@pytest.mark.parametrize(
    "name",
    [
        "conv_2",
        "/ArgMax_1",
        "layer_3",
        "sm_90",
        "float32",
        "12",
        "-1",
        "",
        "step",
        "step_",
        "step_3_done",
        "step 3 done",
        "step_1.5",
        "lr=0.5",
        "Torch-Compiled Region: 0/0",
        "forward[3]",
        "a, b",
        "sizes = [2]",
        "aten::mm, sizes = 4x4",
        "a [1, 2]",
        THUNDER_LINE,
    ],
)
def test_other_names_stay(name):
    assert fold_name(name) == name


@pytest.mark.parametrize(
    "suffix",
    [
        ", op_id = 7",
        ", seq = 0",
        ", seq = 2, op_id = 9",
        ", sizes = []",
        ", sizes = [[]]",
        ", sizes = [[2, 3], []]",
        ", sizes = [[4, 2], [2, 8]], op_id = 3",
        ", seq = 5, op_id = 6, sizes = [[2, 3], [[1], [2]], []]",
        ", seq = 5, op_id = 6, sizes = [[[2, 3], [4, 5]], []], input_op_ids = [(1,0), (4,0)]",
        ", op_id = 6, input_op_ids = [(1,0)]",
        ", input_op_ids = [], sizes = [[1]]",
    ],
)
@pytest.mark.parametrize(
    "name", ["aten::mm", "autograd::engine::evaluate_function: MmBackward0", "f(a=[1], b=[[2]])", "conv_2"]
)
def test_emit_nvtx_suffixes_go(name, suffix):
    assert fold_name(name + suffix) == name


def _listed(items: list[str]) -> str:
    return f"[{', '.join(items)}]"


heads = st.sampled_from(("aten::mm", "step", "conv", "train_step", "/ArgMax", "epoch", "a, b", THUNDER_LINE))
counts = st.sampled_from((" ", "#", "=", "_", "", "/", ":")).flatmap(
    lambda separator: st.integers(-20, 20).map(lambda number: f"{separator}{number}")
)
lists = st.recursive(st.integers(0, 9).map(str), lambda inner: st.lists(inner, max_size=3).map(_listed), max_leaves=6)


@st.composite
def emitted(draw: st.DrawFn) -> str:
    """Draw the suffixes of emit_nvtx, some of them, in any order."""
    suffixes = [
        f", op_id = {draw(st.integers(0, 99))}",
        f", seq = {draw(st.integers(-1, 99))}",
        f", sizes = {_listed(draw(st.lists(lists, max_size=3)))}",
        f", input_op_ids = {_listed(draw(st.lists(lists, max_size=3)))}",
    ]
    chosen = draw(st.lists(st.sampled_from(suffixes), unique=True))
    return "".join(chosen)


@settings(max_examples=150)
@given(heads, st.just("") | counts, emitted())
def test_folding_agrees_with_the_oracle(head, number, suffix):
    name = head + number + suffix
    assert fold_name(name) == oracle(name)
    assert fold_name(name) == fold_name(head + number)


def test_patterns_are_removed_first():
    patterns = compile_patterns([r"^worker \d+: ", r" \(retry\)"])
    assert fold_name("worker 3: step 12 (retry)", patterns) == "step"
    assert fold_name("worker 3: step 12, op_id = 4", patterns) == "step"


def test_a_name_that_would_fold_to_nothing_is_kept():
    assert fold_name("step 12", compile_patterns([".*"])) == "step 12"


def test_a_bad_pattern_is_a_usage_error():
    with pytest.raises(UsageError, match=r"--fold 'step \(': not a regular expression"):
        compile_patterns(["step ("])


# --- API calls

CALLS = {
    CallKind.LAUNCH: """
        cudaLaunchKernel_v7000 cudaLaunchKernel_ptsz_v7000 cudaLaunchKernel cudaLaunchKernelExC_v11060
        cudaLaunchKernelExC_ptsz_v11060 cudaLaunchCooperativeKernel_v9000 cudaLaunchCooperativeKernel_ptsz_v9000
        cudaLaunchCooperativeKernelMultiDevice_v9000 cuLaunchKernel cuLaunchKernel_ptsz cuLaunchKernelEx
        cuLaunchKernelEx_ptsz cuLaunchCooperativeKernel cuLaunchCooperativeKernel_ptsz
        cuLaunchCooperativeKernelMultiDevice""",
    CallKind.GRAPH_LAUNCH: "cudaGraphLaunch_v10000 cudaGraphLaunch_ptsz_v10000 cuGraphLaunch cuGraphLaunch_ptsz",
    CallKind.BLOCKING_COPY: """
        cudaMemcpy_v3020 cudaMemcpy_ptds_v7000 cudaMemcpy2D_v3020 cudaMemcpy3D_v3020 cudaMemcpyToSymbol_v3020
        cuMemcpy cuMemcpy_ptds cuMemcpyHtoD_v2 cuMemcpyDtoH_v2_ptds cuMemcpy2DUnaligned_v2""",
    CallKind.CAPTURE_BEGIN: """
        cudaStreamBeginCapture_v10000 cudaStreamBeginCapture_ptsz_v10000 cudaStreamBeginCaptureToGraph_v12030
        cuStreamBeginCapture_v2 cuStreamBeginCapture_v2_ptsz""",
    CallKind.CAPTURE_END: """
        cudaStreamEndCapture_v10000 cudaStreamEndCapture_ptsz_v10000 cuStreamEndCapture cuStreamEndCapture_ptsz""",
    CallKind.OTHER: """
        cudaMemcpyAsync_v3020 cudaMemcpyAsync_ptsz_v7000 cudaMemcpy2DAsync_v3020 cudaMemcpyFromSymbolAsync_v3020
        cudaMemcpyBatchAsync_v12080 cuMemcpyHtoDAsync_v2 cuMemcpyDtoHAsync_v2_ptsz cuMemcpyAsync_ptsz
        cudaLaunchHostFunc_v10000 cudaLaunchHostFunc_ptsz_v10000 cuLaunchHostFunc cudaMemset_v3020
        cudaMemsetAsync_v3020 cudaStreamSynchronize_v3020 cudaStreamIsCapturing_v10000 cuStreamGetCaptureInfo_v2
        cudaGraphInstantiate_v12000 cudaGraphUpload_v11010 cudaGraphExecUpdate_v10020 cuModuleLoadData
        cuLibraryLoadData cudaMalloc_v3020 cudaFuncGetAttributes_v3020""",
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in CALLS.items() for name in names.split()])
def test_call_kinds(kind, name):
    assert call_class(name).kind is kind
    assert call_class(base_name(name)).kind is kind


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("cudaLaunchKernel_v7000", "cudaLaunchKernel"),
        ("cudaLaunchKernelExC_v11060", "cudaLaunchKernelExC"),
        ("cudaLaunchKernel_ptsz_v7000", "cudaLaunchKernel"),
        ("cuLaunchKernel_ptsz", "cuLaunchKernel"),
        ("cudaMemcpy_ptds_v7000", "cudaMemcpy"),
        ("cuMemcpyDtoHAsync_v2_ptsz", "cuMemcpyDtoHAsync"),
        ("cudaLaunchKernel", "cudaLaunchKernel"),
        ("cuda_v1_thing", "cuda_v1_thing"),
        ("", ""),
    ],
)
def test_base_names(name, base):
    assert base_name(name) == base


@pytest.mark.parametrize(
    ("part", "names"),
    [
        (
            CallPart.COMPILE,
            "cuModuleLoad cuModuleLoadDataEx cuModuleLoadFatBinary cuLibraryLoadData cuLibraryLoadFromFile",
        ),
        (CallPart.COMPILE, "cudaLibraryLoadData cuLinkCreate cuLinkAddData cuLinkComplete"),
        (CallPart.LAUNCH, "cudaLaunchKernel cudaLaunchKernelExC cuLaunchKernel cuLaunchKernelEx cudaGraphLaunch"),
        (CallPart.LAUNCH, "cudaLaunchCooperativeKernel cuLaunchCooperativeKernel cuGraphLaunch"),
        (CallPart.LAUNCH, "cudaMemcpyAsync cudaMemcpy2DAsync cuMemcpyHtoDAsync cudaMemcpyBatchAsync"),
        (CallPart.LAUNCH, "cudaMemset cudaMemsetAsync cuMemsetD32Async"),
        (CallPart.SYNC, "cudaMemcpy cudaMemcpyToSymbol cuMemcpyDtoH cudaMemcpy2D"),
        (CallPart.SYNC, "cudaDeviceSynchronize cudaStreamSynchronize cudaEventSynchronize cuCtxSynchronize"),
        (
            CallPart.MEMORY,
            "cudaMalloc cudaMallocAsync cudaMallocHost cudaFree cudaFreeAsync cudaFreeHost cudaHostAlloc",
        ),
        (
            CallPart.MEMORY,
            "cuMemAlloc cuMemFree cuMemCreate cuMemMap cuMemSetAccess cudaMemPoolCreate cudaHostRegister",
        ),
        (CallPart.GRAPH, "cudaGraphInstantiate cudaGraphInstantiateWithFlags cudaGraphAddKernelNode cuGraphExecUpdate"),
        (CallPart.GRAPH, "cudaStreamBeginCapture cudaStreamEndCapture cudaGraphExecDestroy"),
        (CallPart.CUDA_OTHER, "cudaEventRecord cudaEventCreate cudaStreamWaitEvent cudaStreamIsCapturing"),
        (
            CallPart.CUDA_OTHER,
            "cuInit cuGetProcAddress cuKernelGetName cudaLaunchHostFunc cudaGetDevice cuModuleUnload",
        ),
    ],
)
def test_parts_of_the_host_partition(part, names):
    for name in names.split():
        assert call_class(name).part is part, name
        assert call_class(f"{name}_v11020").part is part, name
        assert call_class(f"{name}_ptsz_v11020").part is part, name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/opt/torch/.venv/bin/python3", "python3"),
        ("python3", "python3"),
        ("C:\\Tools\\run.exe", "run.exe"),
        ("/", "/"),
        ("", ""),
        ("dir/", "dir"),
    ],
)
def test_a_program_is_called_by_its_file_name(path, name):
    assert program_name(path) == name


def test_pages_show_no_folder_of_a_program_and_json_all(builder, tmp_path, capsys):
    for pid in (100, 200):
        process = builder.process(pid=pid, name="/opt/venv/bin/python3")
        thread = process.thread()
        thread.push_pop("step", 0, 900)
        thread.call("cudaLaunchKernel_v7000", 10, 20).kernel("k", 30, 80)
    builder.process(pid=300, name="/opt/venv/bin/other").thread().call("cudaLaunchKernel_v7000", 10, 20)
    report = str(builder.write(tmp_path / "report.sqlite"))
    for arguments in (["report"], ["report", "--format", "html"], ["report", "--merge-ranks"], ["kernels"], ["doctor"]):
        cli.main([arguments[0], report, *arguments[1:]])
        out = capsys.readouterr().out
        assert "/opt/" not in out
        assert "python3" in out or arguments == ["kernels"]
    cli.main([report, "--format", "json"])
    assert "/opt/venv/bin/python3" in capsys.readouterr().out
