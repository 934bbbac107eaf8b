"""`python -m wisefl.cli`."""

import sys

from wisefl.cli import main

sys.exit(main())
