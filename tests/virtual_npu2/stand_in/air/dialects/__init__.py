"""Stand-ins for the dialects' bindings."""
