"""What can be done with the lake as a whole: find, read and list sessions, see how it stands, tidy, erase, pack."""
