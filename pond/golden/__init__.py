"""What a change did to the goldens, in terms of the model: rows, keys, provenance, fields, losses, outputs."""
