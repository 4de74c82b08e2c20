"""The reports that tests look at, and the two rules of attribution.

Those of ``tests/reports`` are fixtures, whose numbers tests know; those of ``sample_reports`` change with new captures.
"""

RULES = ("thread", "process")
SAMPLES = (
    "llama_eager",
    "llama_inductor",
    "llama_cudagraphs",
    "llama_thunder_torch",
    "llama_thunder_nvfuser",
    "vit_train_eager",
    "inductor_compile_phases",
)
CAPTURED = (
    "llama-eager",
    "llama-inductor",
    "llama-cudagraphs",
    "llama-cudagraph_raw",
    "llama-thunder",
    "llama-thunder_nvfuser",
    "llama-train-eager-fsdp=2",
    "vit-train-eager",
    "whole/llama-cudagraphs",
)
