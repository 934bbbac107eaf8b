"""The parts of the certified search: branch and bound on the deadline of a round.

Lowest first: `walk` (depth first over sets), `knapsack` and `relaxation` (bounds for given costs), the set rules
`covers`, `limited` and `mixture` (what a set must hold, the protocol is `rule`), `trials` (sets that were allocated
exactly), `opening` (the first decision), `search` (intervals of deadlines).
"""
