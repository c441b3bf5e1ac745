"""What may cross between the processes, as bytes:

codec        how the values of a type cross, and the table of it
plain        what may cross, and the codec of each type
classes      what a class is, whatever its metaclass says
namedtuples  rows whose fields have names
row          the flat row of a message, and how large it may be
writer       lays a value out as one
reader       builds a value from one
keys         keys that were made up to share a hash
arrays       NumPy's part of it
windows      arrays that look into the memory of another
scalars      what stands in a pandas object by itself: a cell, a label, a name
frames       pandas' part of it
sparse       and of that columns in which most is one value
spans        what of it lies on a calendar or a scale: time stamps, zones, periods, intervals
randomness   the global random state, as plain values
"""
