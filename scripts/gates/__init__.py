"""The four gates over all cases of a model, and what they say about Phase 2."""
