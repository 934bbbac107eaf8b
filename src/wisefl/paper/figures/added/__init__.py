"""Figures that the paper does not have: what its training spends, how far from the optimum it ends, and why."""
