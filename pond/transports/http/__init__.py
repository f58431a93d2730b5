"""HTTP: one route for each operation, and what a server needs around them."""
