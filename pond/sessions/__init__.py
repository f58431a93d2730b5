"""Sessions in the lake: how canonical events become rows, and rows become the same events again."""
