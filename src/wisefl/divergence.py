"""How far a client's labels are from everybody's: proportions, global estimate, Kullback-Leibler divergence.

Section IV-B of the paper. A client that lacks a class which the population has is infinitely far away, exactly
as printed; `smoothing` adds that many pseudo-samples to every class of every client for those who want it finite.
"""

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats


def label_distribution(label_counts: NDArray[np.int64] | Floats, smoothing: float = 0.0) -> Floats:
    """p_{z,k} = d_{z,k} / d_k along the last axis."""
    counts = label_counts + smoothing
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))


def global_distribution(label_counts: NDArray[np.int64]) -> Floats:
    """p_g = sum_k (d_k / d) p_k, which is the distribution of the pooled counts."""
    return label_distribution(label_counts.sum(axis=0))


def kl(p: Floats, q: Floats) -> Floats:
    """D_kl(p || q) along the last axis; infinite where q lacks a class that p has."""
    held = p > 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(held, p * (np.log(np.where(held, p, 1.0)) - np.log(q)), 0.0)
    # Rounding can leave -1e-17 where the two are equal.
    return np.asarray(np.maximum(terms.sum(axis=-1), 0.0))


def client_divergence(label_counts: NDArray[np.int64], smoothing: float = 0.0) -> Floats:
    """D_kl(p_g || p_k) of every client."""
    reference = label_distribution(label_counts.sum(axis=0), smoothing)
    return kl(reference, label_distribution(label_counts, smoothing))


def mixture_divergence(label_counts: NDArray[np.int64], selected: NDArray[np.bool_], smoothing: float = 0.0) -> float:
    """D_kl(p_g || mixture of the selected): how well the chosen clients represent everybody *together*."""
    reference = label_distribution(label_counts.sum(axis=0), smoothing)
    return float(kl(reference, label_distribution(label_counts[selected].sum(axis=0), smoothing)))
