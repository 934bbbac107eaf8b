"""`python -m wisefl`."""

import sys

from wisefl.cli import main

sys.exit(main())
