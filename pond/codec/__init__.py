"""Client files to canonical events and back: the two faces of every adapter, driven by its compiled mapping."""
