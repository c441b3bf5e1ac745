"""What may cross between the processes, as bytes:

codec       how the values of a type cross, and the table of it
plain       what may cross, and the codec of each type
keys        keys that were made up to share a hash
arrays      NumPy's part of it
windows     arrays that look into the memory of another
scalars     what stands in a pandas object by itself: a cell, a label, a name
frames      pandas' part of it
randomness  the global random state, as plain values
"""
