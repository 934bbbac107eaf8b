"""Solvers of one round's problem, one file each."""
