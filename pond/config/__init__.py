"""Settings: each declared once, read from `pond.toml`, `POND_*` variables and flags, with the source of each value."""
