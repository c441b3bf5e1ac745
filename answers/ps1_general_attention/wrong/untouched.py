"""The notebook as it was released: nothing is filled in.

Loses:
    everything
"""
