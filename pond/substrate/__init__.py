"""How pond uses Lance: tables, the four chokepoints, retry and upkeep. Knows nothing of sessions."""
