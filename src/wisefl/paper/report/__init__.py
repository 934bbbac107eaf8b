"""`report.html`: a reproduction as one page that opens from disk and asks nothing of the network."""

from wisefl.paper.report.page import REPORT, write_report

__all__ = ["REPORT", "write_report"]
