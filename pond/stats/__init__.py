"""The activity in the lake, in numbers."""
