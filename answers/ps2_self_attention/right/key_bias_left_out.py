"""self_attention leaves out the keys' bias: it adds the same number to a whole column of scores, so softmax cancels it.

This is not a mistake that any check could see, because the outputs are equal for all inputs.
"""

# %% [solution] queries_keys_values

# %% [solution] softmax

# %% [solution] attention_loop

# %% [solution] softmax_cols

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    # beta_k adds beta_k.T @ q_n to every score of query n; the softmax does not see it
    queries = omega_q @ X + beta_q
    keys = omega_k @ X
    values = omega_v @ X + beta_v
    return values @ softmax_cols(keys.T @ queries)

# %% [markdown] cost_answer
# (a) Entry (m, n) of K^T Q; V times the weights sums over m.
# (b) 3ND^2 + N^2D + N^2D. Equal in both, since every entry of a matrix product is the same dot product that the loop computes.
# (c) 2, 4, 4. N > 3D/2.
