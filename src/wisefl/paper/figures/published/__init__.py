"""The figures of the paper, one declarative file each."""
