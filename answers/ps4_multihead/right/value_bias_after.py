"""Adds the values' bias after the average: the same, as the weights sum to one."""

# %% multihead_scaled_self_attention
def multihead_scaled_self_attention(X, omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1,
                                    omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2,
                                    omega_c):
    Q1, K1 = omega_q1 @ X + beta_q1, omega_k1 @ X + beta_k1
    Q2, K2 = omega_q2 @ X + beta_q2, omega_k2 @ X + beta_k2
    A1 = softmax_cols(K1.T @ Q1 / np.sqrt(K1.shape[0]))
    A2 = softmax_cols(K2.T @ Q2 / np.sqrt(K2.shape[0]))
    S1 = omega_v1 @ X @ A1 + beta_v1
    S2 = omega_v2 @ X @ A2 + beta_v2
    return omega_c @ np.concatenate([S1, S2])

# %% [markdown] why_two_heads_answer
# Both need 3 D^2 weights and N^2 D multiplications for the scores. Two heads allow two
# distributions per query: x_2 looks at x_6 and at x_2. With one head it would need to split its
# attention. omega_c combines the two heads so that each output row can use both.
