"""Computes everything in single precision."""

# %% multihead_scaled_self_attention
def multihead_scaled_self_attention(X, omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1,
                                    omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2,
                                    omega_c):
    X = X.astype("float32")
    heads = []
    for six in [(omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1),
                (omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2)]:
        ov, oq, ok, bv, bq, bk = [np.array(a, dtype=np.float32) for a in six]
        Q = np.matmul(oq, X) + bq
        K = np.matmul(ok, X) + bk
        V = np.matmul(ov, X) + bv
        A = softmax_cols(np.matmul(K.T, Q) / np.float32(np.sqrt(Q.shape[0])))
        heads.append(np.matmul(V, A))
    return np.matmul(omega_c.astype("float32"), np.vstack(heads))

# %% [markdown] why_two_heads_answer
# Two heads can attend to two inputs. It costs the same since the heads are half as large and
# there are two of them. omega_c mixes them.
