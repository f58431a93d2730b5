"""What went wrong, where, and what to do: one value, three renderings."""
