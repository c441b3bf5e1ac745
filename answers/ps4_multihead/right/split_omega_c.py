"""Multiplies each head by its half of omega_c and adds; Q is scaled before the product."""

# %% multihead_scaled_self_attention
def weights_of(X, omega_q, omega_k, beta_q, beta_k):
    size = np.shape(omega_q)[0]
    Q = (omega_q @ X + np.repeat(beta_q, X.shape[1], axis=1)) * size ** -0.5
    K = omega_k @ X + np.tile(beta_k, (1, X.shape[1]))
    return np.array([softmax_cols((K.T @ Q[:, [n]])).ravel() for n in range(X.shape[1])]).T


def multihead_scaled_self_attention(X, omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1,
                                    omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2,
                                    omega_c):
    size = omega_v1.shape[0]
    S1 = (omega_v1 @ X + beta_v1) @ weights_of(X, omega_q1, omega_k1, beta_q1, beta_k1)
    S2 = (omega_v2 @ X + beta_v2) @ weights_of(X, omega_q2, omega_k2, beta_q2, beta_k2)
    return omega_c[:, :size] @ S1 + omega_c[:, size:] @ S2

# %% [markdown] why_two_heads_answer
# omega_c can be cut into one D x D/H block per head; the output is the sum of the blocks times
# the heads. So each head writes to all D rows instead of only its own. The heads together have as
# many entries (3 D squared) and score multiplications (N squared D) as a single one, but a query
# such as x_4 may look at x_1 and x_3 with full weight in different heads.
