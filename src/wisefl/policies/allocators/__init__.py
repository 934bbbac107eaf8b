"""With what share and frequency: one allocator per file."""
