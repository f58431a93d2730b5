"""Search: what was asked, which messages are candidates, and how well each answers."""
