"""The sample reports that tests look at, and the two rules of attribution."""

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
