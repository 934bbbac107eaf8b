"""Bring the results of a reproduction into docs/: the page, its tables and pictures, and the tables of optimality.md.

python tools/write_results.py REPRODUCTION_FOLDER
"""

import sys
from pathlib import Path

from wisefl.errors import WiseFLError
from wisefl.paper.claims.measures import Results
from wisefl.paper.markdown import copy_results, fill, write_markdown
from wisefl.paper.optimality import optimality_tables

DOCS = Path(__file__).parent.parent / "docs"


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python tools/write_results.py REPRODUCTION_FOLDER", file=sys.stderr)
        return 2
    out, page = Path(arguments[0]), DOCS / "reproduction.md"
    try:
        write_markdown(out, page)
        copy_results(out, page)
        fill(DOCS / "optimality.md", optimality_tables(Results.read(out)))
    except WiseFLError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"written: {page}, {page.with_suffix('')} and the tables of {DOCS / 'optimality.md'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
