"""The mapping language: one text that says how a client's records become canonical rows, and back."""
