"""The function is left blank, and only the written question has an answer.

The assignment has one answer cell for code, so all of the automatic points are lost.

Loses:
    everything
"""

# %% [markdown] why_two_heads_answer
# Ran out of time for the code, sorry. Both cost the same: 3 D^2 entries, N^2 D multiplications.
# Several heads have several sets of weights for each query, so an output can take from two places.
# omega_c mixes the heads.
