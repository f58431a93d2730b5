"""Search: what was asked, which messages come into question, and how well each answers."""
