"""Python source for a checked mapping: what `compile` puts together."""
