"""The smallest effects of interest, fixed before the seeds that they judge were run.

The paper gives no numbers for "outperforms", "limited", "comparable" or "slightly". These are ours: what a reader of
its figures would see, and no smaller than what would matter to anybody who had to choose a method.
"""

LEAD = 0.01
"""Accuracy: a lead, a rise or a fall of less than one point is none (claims 1, 5 and 6)."""
ABOUT = 0.03
"""Accuracy: "limited", "comparable" and "approaches" are within three points; "not consistently" is more (claims 2, 3
and 5)."""
STEADIER = 1.25
"""Jumps of a course: unstable is a quarter more than the others' at the least (claim 4)."""
COST = 1.02
"""A ratio of costs: two percent more or less is no difference (claims 7 to 12)."""
SLIGHTLY = 1.25
"""A ratio of costs: "slightly higher" is up to a quarter (claim 8)."""
SAVED = 0.02
"""Of what CSRA spends where the band is scarcest: two percent more or less is no difference (claim 9)."""
BOUND = 1.02
"""A ratio of bounds (claim 13)."""
