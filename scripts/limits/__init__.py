"""Limits: what each kernel asks of a shape and its tile, checked before anything is compiled."""
