"""Steps of the Phase 1 workflow, one module per step, and the parts they share."""
