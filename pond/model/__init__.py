"""The canonical model: what every adapter reads into and writes from.

`_generated` holds the types, written by `python -m codegen` from schema/; everything else here is written by hand.
"""
