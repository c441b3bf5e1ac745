"""The notebook as it was released.

Loses:
    everything
"""
