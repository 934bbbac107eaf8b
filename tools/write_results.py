"""Bring the results of a reproduction into docs/: a page with its tables and pictures, and tables of three others.

Figures that the folder does not hold stay as they were: docs/reproduction keeps those of earlier ones.

python tools/write_results.py REPRODUCTION_FOLDER
"""

import sys
from pathlib import Path

from wisefl.errors import WiseFLError
from wisefl.paper import Reproduced
from wisefl.paper.pages import fill, keep_results, optimality_tables, theorem_tables, whole_tables, write_page

DOCS = Path(__file__).parent.parent / "docs"


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python tools/write_results.py REPRODUCTION_FOLDER", file=sys.stderr)
        return 2
    kept, page = DOCS / "reproduction", DOCS / "reproduction.md"
    try:
        keep_results(Path(arguments[0]), kept)
        reproduced = Reproduced.read(kept)
        write_page(reproduced, page)
        fill(DOCS / "optimality.md", optimality_tables(reproduced.results))
        fill(DOCS / "theorem.md", theorem_tables(reproduced.results))
        fill(DOCS / "policies.md", whole_tables(reproduced.results))
    except WiseFLError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"written: {page}, {kept} and the tables of optimality.md, policies.md and theorem.md in {DOCS}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
