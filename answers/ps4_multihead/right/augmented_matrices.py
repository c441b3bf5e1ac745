"""The biases are an extra column of each matrix, and X gets a row of ones."""

# %% multihead_scaled_self_attention
from scipy.special import logsumexp

def aug(o, b):
    return np.hstack([o, b])

def multihead_scaled_self_attention(X, omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1,
                                    omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2,
                                    omega_c):
    global last_maps
    X1 = np.append(X, [[1.0] * X.shape[1]], axis=0)
    last_maps = []
    for oq, ok, bq, bk in [(omega_q1, omega_k1, beta_q1, beta_k1),
                           (omega_q2, omega_k2, beta_q2, beta_k2)]:
        L = (X1.T @ aug(ok, bk).T @ aug(oq, bq) @ X1) / np.sqrt(oq.shape[0])
        last_maps.append(np.exp(L - logsumexp(L, axis=0)))
    k = len(omega_v1)
    Z = np.zeros((len(omega_c), X.shape[1]))
    Z[:k] = aug(omega_v1, beta_v1) @ X1 @ last_maps[0]
    Z[k:] = aug(omega_v2, beta_v2) @ X1 @ last_maps[1]
    return omega_c @ Z

# %% [markdown] why_two_heads_answer
# Same number of parameters (3DD) and of multiplications (NND). One softmax per query and head: so
# x_1 can take nearly all from x_5 and, in the other head, 68 % from x_4. omega_c lets the two
# results meet in each row.
