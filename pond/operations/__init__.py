"""What pond does, as plain functions from a request to a response; the command line and the servers only call them."""
