"""A compiler-style codec toolkit for agent session files."""
