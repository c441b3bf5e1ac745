"""Nothing is filled in.

Loses:
    everything
"""
