"""The Phase 1 report of a model, as Markdown."""
