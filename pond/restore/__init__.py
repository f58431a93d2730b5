"""Tables into files: stored sessions as the codec knows sessions, and where each of them is written."""
