"""What a capture can and cannot answer, and what a machine needs to make one that can."""

from nsys_analyze.doctor.answers import Answer, Diagnosis, State
from nsys_analyze.doctor.examination import examine
from nsys_analyze.doctor.machine import examine_machine

__all__ = ["Answer", "Diagnosis", "State", "examine", "examine_machine"]
