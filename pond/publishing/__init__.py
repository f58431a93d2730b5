"""The published schemas: which ship with pond, how they are published, and whether they only grew."""
