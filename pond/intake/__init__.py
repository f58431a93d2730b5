"""Sources into the tables: which must be read, what they hold, and where it goes."""
