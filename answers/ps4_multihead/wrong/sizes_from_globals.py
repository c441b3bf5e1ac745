"""Takes the sizes N and H_D from the notebook instead of from the arguments.

Loses:
    test_multihead_sizes: *
Keeps:
    everything else
"""

# %% multihead_scaled_self_attention
def multihead_scaled_self_attention(X, omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1,
                                    omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2,
                                    omega_c):
    heads = []
    for ov, oq, ok, bv, bq, bk in ((omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1),
                                   (omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2)):
        V = bv @ np.ones((1, N)) + ov @ X
        Q = bq @ np.ones((1, N)) + oq @ X
        K = bk @ np.ones((1, N)) + ok @ X
        heads.append(V @ softmax_cols(K.T @ Q / np.sqrt(H_D)))
    return omega_c @ np.vstack(heads)

# %% [markdown] why_two_heads_answer
# Each head has its own map, so x_2 can take from x_6 and from x_2. omega_c mixes the heads.
