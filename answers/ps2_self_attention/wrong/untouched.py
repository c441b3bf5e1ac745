"""Submitted as it was released.

Loses:
    everything
"""
