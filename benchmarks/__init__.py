"""Measurements: both sides of a comparison are timed in one run."""
