"""What was done in the lake, in numbers."""
