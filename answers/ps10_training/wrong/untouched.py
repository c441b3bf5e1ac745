"""Nothing was filled in.

Loses:
    everything
"""
