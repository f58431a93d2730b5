"""What went wrong, where, and what to do about it: one value, three renderings."""
