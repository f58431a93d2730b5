"""Write everything generated from the schemas and the maps: types, published schemas, reference, compiled maps."""
