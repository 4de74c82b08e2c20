"""Errors that a person can act on: each is one line saying what, where and what to do."""


class NsysAnalyzeError(Exception):
    """Base of every error this package raises on purpose."""


class ReportError(NsysAnalyzeError):
    """The input is missing, unreadable or not an Nsight Systems export."""


class UsageError(NsysAnalyzeError):
    """What was asked for does not make sense: an unknown stage, column or format."""
