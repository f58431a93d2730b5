"""Makes pond known to the coding clients of this machine, and unknown again."""
