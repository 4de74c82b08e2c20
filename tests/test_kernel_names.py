"""Kernel names taken apart, and shortened without making two alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsys_analyze import open_report
from nsys_analyze.model.kernel_names import taken_apart, titles
from tests.samples import SAMPLES

ADD = (
    "void at::native::elementwise_kernel<(int)128, (int)4, void at::native::gpu_kernel_impl_nocast<"
    "at::native::CUDAFunctor_add<c10::BFloat16>>(at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>"
    "(int, T3)"
)
COPY = (
    "void at::native::vectorized_elementwise_kernel<(int)8, at::native::bfloat16_copy_kernel_cuda("
    "at::TensorIteratorBase &)::[lambda(float) (instance 1)], std::array<char *, (unsigned long)2>>(int, T2, T3)"
)


@pytest.mark.parametrize(
    ("name", "qualified", "template", "parameters"),
    [
        ("void a::b<int>(T1 *)", "a::b", "<int>", "(T1 *)"),
        ("void <unnamed>::f<(int)1>(int)", "unnamed::f", "<(int)1>", "(int)"),
        ("void (anonymous namespace)::f(int)", "unnamed::f", "", "(int)"),
        ("std::enable_if<(T7)==(2), void>::type a::kernel<int>(T13)", "a::kernel", "<int>", "(T13)"),
        ("void wide<(1<2), int>::k(int)", "wide::k", "", "(int)"),
        ("void k<(1<2)>(x)", "k", "<(1<2)>", "(x)"),
        ("a<b>::c<d>", "a::c", "<d>", ""),
        ("triton_poi_fused_0", "triton_poi_fused_0", "", ""),
        ("[CUDA memcpy Host-to-Device]", "[CUDA memcpy Host-to-Device]", "", ""),
        ("unmatched<(", "unmatched<(", "", ""),
        ("", "", "", ""),
    ],
)
def test_pieces(name, qualified, template, parameters):
    assert taken_apart(name) == (qualified, template, parameters)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["void a::softmax<float>(int)"], ["softmax"]),
        (
            [ADD, COPY],
            [
                "elementwise_kernel<CUDAFunctor_add<BFloat16>>",
                "vectorized_elementwise_kernel<bfloat16_copy_kernel_cuda>",
            ],
        ),
        (["void f<(int)1>()", "void f<(int)2>()"], ["f<1>", "f<2>"]),
        (["void f<a::x>()", "void f<a::y>()"], ["f<x>", "f<y>"]),
        (["nvf::f(nvf::Tensor<(int)1>)", "nvf::f(nvf::Tensor<(int)2>)"], ["f(Tensor<1>)", "f(Tensor<2>)"]),
        (["void a::f(int)", "void b::f(int)"], ["a::f(int)", "b::f(int)"]),
        (["void f(int)", "int f(int)"], ["void f(int)", "int f(int)"]),
        (["void cutlass::Kernel2<cutlass_80_gemm>(T1::Params)"], ["Kernel2<cutlass_80_gemm>"]),
    ],
)
def test_titles(names, expected):
    assert titles(names) == expected


@pytest.mark.parametrize("name", SAMPLES)
def test_titles_of_real_kernels_are_short_and_apart(sample_report, name):
    names = open_report(sample_report(name)).trace.ops.names
    found = titles(names)
    assert len(set(found)) == len(names)
    assert all(len(title) <= len(full) for title, full in zip(found, names, strict=True))


@given(st.lists(st.text(alphabet="ab:<>()[], {}*T1=&", max_size=30)))
def test_different_names_stay_different_whatever_they_are(names):
    found = dict(zip(names, titles(names), strict=True))
    assert len(set(found.values())) == len(set(names))
