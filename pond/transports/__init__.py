"""How requests arrive from other processes: a transport decodes, calls an operation and encodes, and does no more."""
