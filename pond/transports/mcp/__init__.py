"""The lake as the memory of coding clients, over the Model Context Protocol: on standard streams, and at `/mcp`."""
