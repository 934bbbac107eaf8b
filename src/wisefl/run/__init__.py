"""A run, whoever drives it: configuration, state, record, the round that advances it, and its folder on disk."""
