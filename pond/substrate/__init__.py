"""How pond uses Lance: tables, the four chokepoints, retry and upkeep. It knows nothing about sessions."""
