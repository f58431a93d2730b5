"""Text in, vectors out: the one seam behind which models run, on this machine or elsewhere. Knows nothing of sessions.

Nothing heavy is imported before a model is opened.
"""
