"""The heads are computed once, outside of the function; only omega_c is used as an argument.

Loses:
    test_multihead: new random numbers of the given sizes
    test_multihead_parts: *
    test_multihead_sizes: *
Keeps:
    everything else
"""

# %% multihead_scaled_self_attention
V1, Q1, K1 = omega_v1 @ X + beta_v1, omega_q1 @ X + beta_q1, omega_k1 @ X + beta_k1
V2, Q2, K2 = omega_v2 @ X + beta_v2, omega_q2 @ X + beta_q2, omega_k2 @ X + beta_k2
head_1 = V1 @ softmax_cols(K1.T @ Q1 / np.sqrt(H_D))
head_2 = V2 @ softmax_cols(K2.T @ Q2 / np.sqrt(H_D))
both_heads = np.concatenate([head_1, head_2])

def multihead_scaled_self_attention(X, omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1,
                                    omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2,
                                    omega_c):
    X_prime = omega_c @ both_heads
    return X_prime

# %% [markdown] why_two_heads_answer
# Two heads see two things at the same time, e.g. x_4 looks at x_1 and at x_3. The cost is the same.
