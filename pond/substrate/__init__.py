"""How pond uses Lance: tables, the four chokepoints, retry and upkeep. Knows nothing of sessions."""

import os

# Said before Lance is imported: its warnings would go to the terminal, and a scan would read two gigabytes ahead.
os.environ.setdefault("LANCE_LOG", "error")
os.environ.setdefault("LANCE_DEFAULT_IO_BUFFER_SIZE", str(64 << 20))
