"""Answers as texts for a model to read: whole messages within a budget of bytes, marked as a record of the past."""
