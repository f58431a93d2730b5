"""The published schemas: what ships with pond, how it is given out, and whether it only grew."""
