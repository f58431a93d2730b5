"""`python -m pond`: the command line."""

import sys

from pond.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
