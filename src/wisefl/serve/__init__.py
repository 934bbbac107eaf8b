"""The explorer: a JSON service over the decision and campaign rooms, and the page that asks it while one drags.

`app` speaks HTTP and validates; `pool` keeps worker processes, in which `jobs` decides. Nothing is remembered between
requests, so the service scales by processes, and a worker that hangs or dies is replaced.
"""
