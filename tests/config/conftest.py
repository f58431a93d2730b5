"""What the tests of the configuration share."""

from pathlib import Path

import pytest

from tests.config.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Return an empty home directory."""
    return Home(tmp_path)
