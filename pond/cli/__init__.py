"""The command line: decode arguments, call the library, print. No logic lives here."""
