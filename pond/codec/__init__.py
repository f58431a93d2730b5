"""Client files to canonical events and back: both directions of every adapter, driven by its compiled mapping."""
