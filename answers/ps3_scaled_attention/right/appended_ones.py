"""The bias is one more column of omega, and a row of ones is put under X; tensordot multiplies."""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    X1 = np.vstack([X, np.ones(X.shape[1])])
    Q = np.tensordot(np.hstack([omega_q, beta_q]), X1, axes=1)
    K = np.tensordot(np.hstack([omega_k, beta_k]), X1, axes=1)
    V = np.tensordot(np.hstack([omega_v, beta_v]), X1, axes=1)
    attentions = softmax_cols(np.tensordot(K, Q, axes=(0, 0)))
    return np.tensordot(V, attentions, axes=1), attentions

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    X1 = np.vstack([X, np.ones(X.shape[1])])
    Q = np.tensordot(np.hstack([omega_q, beta_q]), X1, axes=1)
    K = np.tensordot(np.hstack([omega_k, beta_k]), X1, axes=1)
    V = np.tensordot(np.hstack([omega_v, beta_v]), X1, axes=1)
    Q /= np.sqrt(Q.shape[0])
    attentions = softmax_cols(np.tensordot(K, Q, axes=(0, 0)))
    return np.tensordot(V, attentions, axes=1), attentions

# %% [markdown] why_equivariant_answer
# Equivariance means f(XP) = f(X)P. It holds without E since all operations are on columns with
# shared weights and sums over all columns. With E we compute f(XP + E) which is not f(X + E)P,
# because E is not permuted. The purpose is to make the order visible to the model.
