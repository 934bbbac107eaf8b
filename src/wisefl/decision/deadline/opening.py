"""The first decision: from a guess of deadline and band price to a set that is hard to better."""

from collections.abc import Callable

import numpy as np

from wisefl.arrays import Ints, Mask
from wisefl.decision.client_cost import take
from wisefl.decision.deadline.budget import OutOfBudget
from wisefl.decision.deadline.relaxation import costs_at, relaxed_optimum
from wisefl.decision.deadline.scope import Scope
from wisefl.decision.deadline.trials import Trials
from wisefl.errors import InvalidInput

SAMPLE = 4096
"""Clients on which the first guess of deadline and band price is made when there are many more."""


def first_decision(whole: Scope, trials: Trials, last_resort: Callable[[], list[Ints]]) -> None:
    """Try sets of everybody until the best of them is good; `last_resort` names some where nothing was found."""
    rule, budget = whole.rule, trials.budget
    part = _part(whole.size)
    deadline, band_price = _guess(whole, part, trials)
    try:
        for members in rule.openings(deadline, band_price):
            trials.attempt(members)
            budget.check()
        if part.all() or rule.samples[part].sum() < rule.need:
            _descend(whole, trials, deadline, band_price)
        else:
            # A decision among a few is at hand before the many have been looked at.
            _descend(whole.narrowed(part), trials, deadline, band_price)
            budget.pass_over(whole.size)
            _descend(whole, trials, deadline, band_price)
    except OutOfBudget:
        pass
    if trials.best.objective == np.inf:
        for members in last_resort():
            trials.attempt(members)
    if trials.best.objective == np.inf:
        raise InvalidInput(
            "no set of clients has a cost that floating-point numbers can hold: "
            "a limit or a column of the fleet is out of any physical range"
        )


def _descend(scope: Scope, trials: Trials, deadline: float, band_price: float) -> None:
    """Cheap sets at this deadline and band price, then at those of the best set, while that helps."""
    rule, budget = scope.rule, trials.budget
    if trials.best.members.size:
        deadline, band_price = trials.best.deadline, trials.best.band_price
    scope.tau[:] = 0.5 * deadline
    for _ in range(3):
        before = trials.best.objective
        costs_at(deadline, band_price, rule.terms, scope.tau, scope.cost_first)
        trials.attempt_each(scope, rule.first(scope.cost_first, trials.best, budget.nodes(rule.nodes)))
        if trials.best.objective >= before * (1 - 1e-4):
            break
        budget.pass_over(scope.size)
        deadline, band_price = trials.best.deadline, trials.best.band_price


def _part(size: int) -> Mask:
    """Clients to begin with: all, or a part when there are very many."""
    part = np.ones(size, np.bool_)
    if size > 4 * SAMPLE:
        part[:] = False
        part[np.random.default_rng(0).permutation(size)[:SAMPLE]] = True
    return part


def _guess(whole: Scope, part: Mask, trials: Trials) -> tuple[float, float]:
    """(deadline, band price) near the optimum, by a part of the clients that stands for all."""
    rule, longest = whole.rule, trials.ceilings.deadline_s
    terms, samples = take(rule.terms, np.flatnonzero(part)), rule.samples[part]
    worth = trials.worth[part] if trials.worth.size else trials.worth
    fraction = float(samples.sum() / rule.samples.sum())
    if trials.latency_weight == 0.0:
        return longest, float(np.max(terms.airtime_cost * terms.upload_s))
    deadline, band_price = relaxed_optimum(
        trials.latency_weight * fraction, fraction, terms, worth, samples, rule.need * fraction
    )
    return min(float(deadline), longest), float(band_price)
