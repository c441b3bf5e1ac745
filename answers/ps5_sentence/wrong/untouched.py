"""The released notebook, handed in as it is.

Loses:
    everything
"""
