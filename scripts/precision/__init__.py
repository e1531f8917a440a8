"""Precision: comparing outputs, the harness's line format, walls it is known to hit, and the verdict."""
