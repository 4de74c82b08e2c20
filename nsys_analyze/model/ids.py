"""Nsight Systems packs ids: bits 0-23 thread, 24-47 process, 48-55 virtual machine, 56-63 hardware."""

from __future__ import annotations

from nsys_analyze.arrays import Int64

_TID_BITS = 24
_TID_MASK = (1 << _TID_BITS) - 1


def global_pid(global_tid: Int64) -> Int64:
    """The ``globalPid`` that a ``globalTid`` belongs to."""
    return global_tid & ~_TID_MASK


def pid(global_id: Int64) -> Int64:
    """The operating system's process id in a ``globalPid`` or ``globalTid``."""
    return (global_id >> _TID_BITS) & _TID_MASK


def tid(global_tid: Int64) -> Int64:
    """The operating system's thread id; equal to the process id for a main thread."""
    return global_tid & _TID_MASK
