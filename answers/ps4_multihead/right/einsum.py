"""All heads at once with einsum, on arrays with an extra axis for the head."""

# %% multihead_scaled_self_attention
def multihead_scaled_self_attention(X, omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1,
                                    omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2,
                                    omega_c):
    omega_v, omega_q, omega_k = (
        np.stack(pair)
        for pair in [(omega_v1, omega_v2), (omega_q1, omega_q2), (omega_k1, omega_k2)]
    )
    beta_v, beta_q, beta_k = (
        np.stack(pair) for pair in [(beta_v1, beta_v2), (beta_q1, beta_q2), (beta_k1, beta_k2)]
    )
    v = np.einsum("hid,dn->hin", omega_v, X) + beta_v
    q = np.einsum("hid,dn->hin", omega_q, X) + beta_q
    k = np.einsum("hid,dn->hin", omega_k, X) + beta_k
    scores = np.einsum("him,hin->hmn", k, q) / np.sqrt(q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    heads = np.einsum("him,hmn->hin", v, weights)
    return omega_c @ heads.reshape(-1, X.shape[1])

# %% [markdown] why_two_heads_answer
# The number of parameters does not depend on H (3D^2 in all), nor does the number of
# multiplications for the scores (N^2 D). What depends on H is the number of distributions a query
# gets: H instead of 1, so x_2 can attend to x_6 and x_2 fully at once, where a single head would
# have to give each a share. Omega_c forms linear combinations across heads.
