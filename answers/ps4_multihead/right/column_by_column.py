"""One column of X at a time, with a named tuple; redefines softmax_cols and other names."""

# %% multihead_scaled_self_attention
from collections import namedtuple

P = namedtuple("P", "v q k bv bq bk")

def softmax_cols(data_in):
    return np.exp(data_in) / np.exp(data_in).sum(axis=0, keepdims=True)

def multihead_scaled_self_attention(X, omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1,
                                    omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2,
                                    omega_c):
    ps = (P(omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1),
          P(omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2))
    cols = []
    for x in X.T:
        parts = []
        for p in ps:
            q = p.q @ x + p.bq.ravel()
            K = p.k @ X + p.bk
            parts.append((p.v @ X + p.bv) @ softmax_cols(q @ K / np.sqrt(q.size)))
        cols.append(omega_c @ np.hstack(parts))
    return np.stack(cols, axis=-1)

result = multihead_scaled_self_attention(*arguments)
sizes = result.shape
expected = None

# %% [markdown] why_two_heads_answer
# The cost is equal. Each head chooses for itself where x_2 looks. Without omega_c no row would know
# of the other head.
