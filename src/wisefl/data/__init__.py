"""Datasets and how they are spread over clients."""
