"""The released notebook, submitted unchanged.

Loses:
    everything
"""
