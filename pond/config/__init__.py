"""Settings: one declaration of each, read from `pond.toml`, `POND_*` variables and flags, and where each came from."""
