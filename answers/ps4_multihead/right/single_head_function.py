"""A single-head function of an earlier assignment, which returns a pair, is used twice."""

# %% multihead_scaled_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    V = beta_v + omega_v @ X
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    d_q = Q.shape[0]
    attentions = softmax_cols((K.T @ Q) / np.sqrt(d_q))
    return V @ attentions, attentions


def multihead_scaled_self_attention(X, omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1,
                                    omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2,
                                    omega_c):
    top, _ = scaled_dot_product_self_attention(
        X, omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1)
    bottom, _ = scaled_dot_product_self_attention(
        X, omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2)
    X_prime = omega_c @ np.concatenate((top, bottom), axis=0)
    return X_prime

# %% [markdown] why_two_heads_answer
# Each head has 3 matrices of D/H x D, so all heads together have 3 D^2 entries, exactly what one
# head of size D has. For the scores every head does N*N dot products of length D/H, H times this
# is N^2 D, the same again. With one head x_2 has only one distribution over the inputs. With two
# it can look at x_6 (head 1) and at itself (head 2) and keep both apart. omega_c lets each row of
# the output combine rows of both heads; without it the first four rows would only know head 1.
