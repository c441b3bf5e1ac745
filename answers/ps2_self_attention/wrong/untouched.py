"""Handed in as it was released.

Loses:
    everything
"""
