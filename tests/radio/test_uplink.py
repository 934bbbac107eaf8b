import numpy as np
import pytest

from wisefl.radio.uplink import draw_gain, full_band_rate, path_gain, watts

PAPER = {"bandwidth_hz": 2e6, "noise_dbm_hz": -174.0, "carrier_hz": 2.4e9, "path_loss_exponent": 2.7}


def test_decibels() -> None:
    assert watts(np.array([0.0, 30.0])) == pytest.approx([1e-3, 1.0])


def test_path_gain_by_hand() -> None:
    assert path_gain(np.array([1.0]), 2.4e9, 2.7) == pytest.approx([(0.1249135 / (4 * np.pi)) ** 2])
    assert path_gain(np.array([10.0]), 2.4e9, 2.0) == pytest.approx(path_gain(np.array([1.0]), 2.4e9, 2.0) / 100)


def test_rate_by_hand() -> None:
    rate = full_band_rate(np.array([225.0]), np.array([30.0]), np.array([1.0]), **PAPER)
    snr = (299_792_458.0 / (4 * np.pi * 2.4e9)) ** 2 * 225.0**-2.7 / (2e6 * 10**-20.4)
    assert rate == pytest.approx([2e6 * np.log2(1.0 + snr)])


def test_rayleigh_fading_has_exponential_power() -> None:
    gain = draw_gain(200_000, seed=1, mean_gain=0.5)
    assert gain.mean() == pytest.approx(0.5, rel=0.02)
    assert np.mean(gain > 0.5) == pytest.approx(np.exp(-1.0), rel=0.02)


def test_a_round_draws_the_same_channel_whatever_was_drawn_before() -> None:
    assert (draw_gain(5, seed=3, round=7) == draw_gain(5, seed=3, round=7)).all()
    assert (draw_gain(5, seed=3, round=7) != draw_gain(5, seed=3, round=8)).all()
