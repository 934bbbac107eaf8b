"""What a program or a notebook calls, all of it importable from `wisefl`: plan, simulate, compare."""
