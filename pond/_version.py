"""The version, as a constant: reading installed metadata would cost every start of the command line."""

__version__ = "0.1.0"
