"""The parts of `check`, from single rules up to whole kinds."""
