"""The portable conversation: what every client can be told of a session, whichever client it came from."""
