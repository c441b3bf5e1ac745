"""The scores are Q^T K and the softmax runs along rows; the weights are transposed at the end."""

# %% self_attention
def softmax_rows(s):
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = omega_q.dot(X) + beta_q
    K = omega_k.dot(X) + beta_k
    V = omega_v.dot(X) + beta_v
    W = softmax_rows(Q.transpose().dot(K))   # row n: the weights of output n
    return V.dot(W.transpose()), W.transpose()

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = omega_q.dot(X) + beta_q
    K = omega_k.dot(X) + beta_k
    V = omega_v.dot(X) + beta_v
    W = softmax_rows(Q.transpose().dot(K) / (omega_q.shape[0] ** 0.5))
    return V.dot(W.transpose()), W.transpose()

# %% [markdown] why_equivariant_answer
# Self-attention alone treats the inputs as a set. All inputs use the same weights and the output
# is a sum over all inputs, so a permutation of the inputs gives the same permutation of the
# outputs. If a positional encoding is added this is broken: the same word in another place has
# another vector. We want that, since the order of words matters in language.
