"""Computes with np.matrix, and returns one."""

# %% multihead_scaled_self_attention
def multihead_scaled_self_attention(X, omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1,
                                    omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2,
                                    omega_c):
    m = np.asmatrix
    heads = []
    for v, q, k, bv, bq, bk in [(omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1),
                                (omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2)]:
        Q, K, V = m(q) * m(X) + bq, m(k) * m(X) + bk, m(v) * m(X) + bv
        heads.append(V * m(softmax_cols(np.asarray(K.T * Q / v.shape[0] ** .5))))
    return m(omega_c) * np.vstack(heads)

# %% [markdown] why_two_heads_answer
# No extra cost: 3D^2 and N^2D for both. More than one place to look at, per query.
# omega_c = mixing.
