"""Read-only SQL over the lake's tables."""
