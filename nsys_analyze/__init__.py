"""Startup gaps, launch overhead and GPU time of each NVTX stage in an Nsight Systems report."""

from nsys_analyze._version import __version__

__all__ = ["__version__"]
