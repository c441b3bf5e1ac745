"""What may cross between the processes, as bytes:

plain       what may cross, kind by kind
keys        keys that were made up to share a hash
arrays      NumPy's part of it
frames      pandas' part of it
randomness  the global random state, as plain values
"""
