"""Peers."""


def peers():
    return {}
