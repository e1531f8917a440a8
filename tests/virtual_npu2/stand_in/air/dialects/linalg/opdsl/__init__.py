"""Stand-in for linalg's operation language."""
