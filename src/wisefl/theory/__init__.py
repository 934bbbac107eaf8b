"""Theorem 1 of the paper: its terms, the constants it takes for granted, and what it bounds."""
