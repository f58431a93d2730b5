"""A `.pond` archive: the session tables of a lake in one file, which is trusted only after a check."""
