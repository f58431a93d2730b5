"""A `.pond` archive: the session tables of a lake in one file, which is believed only after it was checked."""
