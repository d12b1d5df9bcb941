"""The types of analyses in Python; docs/python-analyses.md describes what each object offers."""

from .serving.analysis import Block, Box, Data, Event, Index, Mesh, Record, Servers, Variable, Whole

__all__ = ["Block", "Box", "Data", "Event", "Index", "Mesh", "Record", "Servers", "Variable", "Whole"]
