"""Sources into the tables: which have to be read, what they hold, and where it goes."""
