"""N and D are the notebook's, not those of the arguments.

Loses:
    test_self_attention_sizes: *
    test_scaled_attention_sizes: *
Keeps:
    everything else
"""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q @ np.ones((1, N)) + omega_q @ X
    K = beta_k @ np.ones((1, N)) + omega_k @ X
    V = beta_v @ np.ones((1, N)) + omega_v @ X
    attentions = softmax_cols(K.T @ Q)
    return V @ attentions, attentions

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q @ np.ones((1, N)) + omega_q @ X
    K = beta_k @ np.ones((1, N)) + omega_k @ X
    V = beta_v @ np.ones((1, N)) + omega_v @ X
    attentions = softmax_cols(K.T @ Q / np.sqrt(D))
    return V @ attentions, attentions

# %% [markdown] why_equivariant_answer
# Queries, keys and values are computed column by column, so they are permuted with the inputs,
# and the weighted sum does not depend on the order of the inputs. With encodings an input gets
# another encoding when it moves, so the equivariance is lost.
