"""What the paper claims, as tests over seeds."""
