"""How the paper was read, and what another reading would have changed."""
