"""The notebook as it was handed out.

Loses:
    everything
"""
