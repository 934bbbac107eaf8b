"""Who takes part: one selector per file."""
