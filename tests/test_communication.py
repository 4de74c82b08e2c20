"""Communication between GPUs: told by name, and how much of it runs under compute."""

from __future__ import annotations

import pytest

from nsys_analyze import open_report
from nsys_analyze.metrics.breakdown import Kind, splits
from nsys_analyze.metrics.results import Collective
from nsys_analyze.model.communication import collective
from nsys_analyze.views import table_view
from nsys_analyze.views.page import Layout

ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)"


# --- names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (ALL_REDUCE, "all-reduce"),
        ("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "all-gather"),
        ("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)", "reduce-scatter"),
        ("ncclDevKernel_Broadcast_RING_LL(x)", "broadcast"),
        ("ncclDevKernel_Reduce_Sum_f32_RING_LL(x)", "reduce"),
        ("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "send-recv"),
        ("ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", "other"),
        ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", "send-recv"),
        ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "all-reduce"),
        ("ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16(ncclSymkDevWorkArgs4K)", "all-reduce"),
        ("ncclAllReduceRingLLKernel_sum_f32(ncclColl)", "all-reduce"),
        ("ncclReduceScatterTreeLLKernel_sum_f32(ncclColl)", "reduce-scatter"),
        ("mscclKernel_Sum_half_LL_false(ncclDevComm*)", "other"),
        ("void mscclpp::collective::allreduceNvls<__half>(T1*)", "all-reduce"),
        ("void barrier_on_stream_kernel_threadgroup<(threadgroup_t)1>(int, int)", "barrier"),
        ("void alltoall_on_stream_kernel<int, (threadgroup_t)2>(int)", "all-to-all"),
        ("void nvshmemi_proxy_quiet_kernel(int)", "other"),
        ("void vllm::cross_device_reduce_1stage<__half, 8>(vllm::RankData*, vllm::RankSignals, int)", "all-reduce"),
        ("void sglang::cross_device_reduce_2stage<float, (int)4>(sglang::RankData*, int)", "all-reduce"),
        (
            "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport"
            "<(flashinfer::trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloat16, 8, false>(int)",
            "all-reduce",
        ),
        ("void tensorrt_llm::kernels::ar_fusion::moe::moereduce_allreduce_fusion_kernel<int>(x)", "all-reduce"),
        ("void tensorrt_llm::kernels::mnnvl::oneshotAllreduceFusionKernel<8>(x)", "all-reduce"),
        ("void tensorrt_llm::kernels::twoShotAllReduceKernel<__half, 8>(AllReduceParams)", "all-reduce"),
        ("void c10d::intra_node_comm::hybridCubeMeshAllReduceKernel<8, true>(int)", "all-reduce"),
        ("void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)", "all-reduce"),
        ("void <unnamed>::multimem_all_gather_kernel<(int)16>(char *)", "all-gather"),
        ("void <unnamed>::two_shot_all_reduce_kernel_inplace<float, (int)16>(float **)", "all-reduce"),
        ("c10d::symmetric_memory::barrier_kernel(unsigned int**, int)", "barrier"),
        ("void deep_ep::internode_ll::dispatch<true, 1>(void*)", "dispatch"),
        ("void deep_ep::intranode::combine<__nv_bfloat16, 8>(T1*)", "combine"),
        ("kuserbuffers_pushrecv(int, int, int*)", "other"),
        ("void userbuffers_fp16_sum_inplace_gpu_rr_rs<4>(int)", "other"),
    ],
)
def test_what_communicates(name, expected):
    assert collective(name) == expected


@pytest.mark.parametrize(
    "name",
    [
        "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, 4>>(T3)",
        "triton_red_fused_all_reduce_add_1",
        "void cub::DeviceReduceKernel<ncclFloat>(int)",
        "void at::native::elementwise_kernel<ncclDevKernel_AllReduce>(int)",
        "splitKreduce_kernel",
        "barrier_kernel(int)",
        "void mine::dispatch<int>(int)",
        "[CUDA memcpy Peer-to-Peer]",
        "",
    ],
)
def test_what_computes(name):
    assert collective(name) is None


# --- overlap


def communication(builder, tmp_path, stage="step"):
    stages = open_report(builder.write(tmp_path / "r.sqlite")).analysis().stages
    (found,) = [each.communication for each in stages if each.name == stage]
    return found


@pytest.fixture
def thread(builder):
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 0, 1000)
    thread.call("cudaLaunchKernel", 10, 15).kernel(ALL_REDUCE, 100, 200, stream=7)
    return thread


def test_under_a_gemm_of_another_stream_it_is_overlapped(builder, tmp_path, thread):
    thread.call("cudaLaunchKernel", 20, 25).kernel("gemm", 150, 300, stream=8)
    found = communication(builder, tmp_path)
    assert (found.busy_ns, found.overlapped_ns, found.exposed_ns) == (100, 50, 50)
    assert (found.kernels, found.kernel_ns) == (1, 100)
    assert found.collectives == {"all-reduce": Collective(kernels=1, kernel_ns=100)}


def test_the_same_stream_of_another_gpu_does_not_overlap(builder, tmp_path, thread):
    thread.call("cudaLaunchKernel", 20, 25).kernel("gemm", 100, 200, stream=7, device=1)
    assert communication(builder, tmp_path).overlapped_ns == 0


def test_a_copy_is_no_compute(builder, tmp_path, thread):
    thread.call("cudaMemcpyAsync", 20, 25).memcpy(100, 200, stream=8, kind=10)
    thread.call("cudaMemsetAsync", 30, 35).memset(100, 200, stream=9)
    assert communication(builder, tmp_path).overlapped_ns == 0


def test_communication_is_no_compute(builder, tmp_path, thread):
    thread.call("cudaLaunchKernel", 20, 25).kernel("ncclDevKernel_SendRecv(x)", 150, 250, stream=8)
    found = communication(builder, tmp_path)
    assert (found.kernels, found.kernel_ns, found.busy_ns, found.overlapped_ns) == (2, 200, 150, 0)
    assert list(found.collectives) == ["all-reduce", "send-recv"]


def test_what_others_compute_is_not_the_stages_own(builder, tmp_path, thread):
    other = builder.process(pid=200).thread()
    other.push_pop("step of another", 0, 1000)
    other.call("cudaLaunchKernel", 20, 25).kernel("gemm", 100, 200, stream=8)
    thread.push_pop("next", 2000, 3000)
    thread.call("cudaLaunchKernel", 2010, 2015).kernel("gemm", 100, 200, stream=8)
    assert communication(builder, tmp_path).overlapped_ns == 0
    assert communication(builder, tmp_path, "next") is None


def test_devices_add_up_and_the_next_step_overlaps_this_one(builder, tmp_path):
    thread = builder.process(pid=100).thread()
    for step in range(2):
        at = 1000 * step
        thread.push_pop(f"step {step}", at, at + 900)
        for device in range(2):
            thread.call("cudaLaunchKernel", at + 10 + device, at + 11 + device).kernel(
                ALL_REDUCE, at + 800, at + 1200, stream=7, device=device
            )
        thread.call("cudaLaunchKernel", at + 20, at + 25).kernel("gemm", at + 50, at + 300, stream=8)
    found = communication(builder, tmp_path)
    assert (found.kernels, found.busy_ns, found.overlapped_ns) == (4, 1600, 150)


def test_without_such_kernels_nothing_is_said(sample_report):
    stages = open_report(sample_report("llama_eager")).analysis().stages
    assert [stage.communication for stage in stages] == [None] * len(stages)


# --- what is shown


def test_the_breakdown_says_how_much_ran_under_compute(builder, tmp_path, thread):
    thread.call("cudaLaunchKernel", 20, 25).kernel("gemm", 120, 300, stream=8)
    analysis = open_report(builder.write(tmp_path / "r.sqlite")).analysis()
    (split,) = [each for each in splits(analysis.stages[0]) if each.kind is Kind.COMMUNICATION]
    assert (split.whole.time, [(part.name, part.time) for part in split.parts]) == (
        100,
        [("overlapped", 80), ("exposed", 20)],
    )
    lines = table_view.render([analysis], Layout(listing=True, breakdown=True), columns=100).splitlines()
    place = lines.index(next(line for line in lines if "communication" in line))
    assert [" ".join(line.split()) for line in lines[place : place + 3]] == [
        "communication between GPUs 0.100 us",
        "under compute 0.080 us 80.0%",
        "not under compute 0.020 us 20.0%",
    ]
