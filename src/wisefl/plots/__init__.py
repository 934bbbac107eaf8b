"""Every picture: one palette, one dressing of axes."""
