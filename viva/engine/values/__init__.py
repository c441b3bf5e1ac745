"""The values that may cross between the processes:

codec        how the values of a type cross, NumPy's too, and the table of all
plain        what may cross, and the codec of each type
frames       pandas' part of it
librarycodecs  those that other packages add for their libraries
sharing      what of a library both sides have, and change
randomness   the global random state, as plain values
streams      whether a state of random numbers follows from a known one

Public, for plug-ins: codec, sharing, streams.
"""
