"""What may cross between the processes by value:

codec        how the values of a type cross, and the table of it
plain        what may cross, and the codec of each type
arrays       NumPy's part of it
frames       pandas' part of it
randomness   the global random state, as plain values
"""
