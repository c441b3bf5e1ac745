"""Everything is computed in single precision."""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    given = (X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k)
    X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k = [a.astype(np.float32) for a in given]
    queries = omega_q @ X + beta_q
    keys = omega_k @ X + beta_k
    values = omega_v @ X + beta_v
    attentions = softmax_cols(keys.T @ queries)
    return (values @ attentions, attentions)

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    given = (X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k)
    X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k = [a.astype(np.float32) for a in given]
    queries = omega_q @ X + beta_q
    keys = omega_k @ X + beta_k
    values = omega_v @ X + beta_v
    attentions = softmax_cols(keys.T @ queries / np.float32(np.sqrt(queries.shape[0])))
    return (values @ attentions, attentions)

# %% [markdown] why_equivariant_answer
# Yes it is still equivariant, because self-attention is the same function as before and does not
# know that something was added to its input.
