"""Runs read back: accuracy along a run, runs side by side, a run followed while it goes on."""
