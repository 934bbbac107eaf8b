"""Pages of the documentation in Markdown, from a reproduction's own numbers."""

from wisefl.paper.pages.markdown import fill
from wisefl.paper.pages.optimality import optimality_tables
from wisefl.paper.pages.reproduction import keep_results, write_page
from wisefl.paper.pages.rules import write_rules
from wisefl.paper.pages.theorem import theorem_tables
from wisefl.paper.pages.whole import whole_tables

__all__ = [
    "fill",
    "keep_results",
    "optimality_tables",
    "theorem_tables",
    "whole_tables",
    "write_page",
    "write_rules",
]
