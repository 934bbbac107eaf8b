"""The parts of the certified search: branch and bound on the deadline of a round."""
