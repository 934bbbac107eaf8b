"""Write docs/claims.md: how claims are judged, and how many seeds that takes by the tables of an earlier run.

python tools/write_rules.py FOLDER_OF_TABLES
"""

import sys
from pathlib import Path

from wisefl.errors import WiseFLError
from wisefl.paper.pages import write_rules

PAGE = Path(__file__).parent.parent / "docs" / "claims.md"


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python tools/write_rules.py FOLDER_OF_TABLES", file=sys.stderr)
        return 2
    try:
        write_rules(Path(arguments[0]), PAGE)
    except WiseFLError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"written: {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
