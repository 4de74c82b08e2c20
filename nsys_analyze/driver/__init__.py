"""Makes reports: annotates code, runs workloads under executors, and profiles them with nsys.

What runs inside the workload's process (`annotate`, `run_workload`, `workloads`, `executors`, `labels`) needs nothing
but the standard library, PyTorch and nvtx, so that it runs with any interpreter. What starts those processes
(`capture`, `profiling`) needs no PyTorch.
"""
