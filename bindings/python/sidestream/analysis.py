"""The types of analyses in Python; what each object offers stands in docs/python-analyses.md."""

from .serving.analysis import Block, Box, Data, Event, Index, Mesh, Record, Servers, Variable, Whole

__all__ = ["Block", "Box", "Data", "Event", "Index", "Mesh", "Record", "Servers", "Variable", "Whole"]
