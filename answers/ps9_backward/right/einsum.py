"""Every product is an einsum, whose indices say over what is summed."""

# %% linear_backward
def linear_backward(d_Y, X, W, b):
    return np.einsum("no,io->ni", d_Y, W), np.einsum("ni,no->io", X, d_Y), np.einsum("no->o", d_Y)

# %% layer_norm_backward
def layer_norm_backward(d_Y, X, gamma, beta, eps=1e-5):
    n = X.shape[1]
    centred = X - np.einsum("nd->n", X)[:, None] / n
    s = np.sqrt(np.einsum("nd,nd->n", centred, centred) / n + eps)
    x_hat = np.einsum("nd,n->nd", centred, 1 / s)
    g = np.einsum("nd,d->nd", d_Y, gamma)
    d_X = np.einsum("nd,n->nd", g, 1 / s)
    d_X = d_X - np.einsum("nd,n->n", g, 1 / s)[:, None] / n
    d_X = d_X - np.einsum("nd,nj,nj,n->nd", x_hat, x_hat, g, 1 / s) / n
    return d_X, np.einsum("nd,nd->d", d_Y, x_hat), np.einsum("nd->d", d_Y)

# %% softmax_backward
def softmax_backward(d_A, S):
    A = softmax(S)
    return np.einsum("nj,nj->nj", A, d_A) - np.einsum("ni,nj,nj->ni", A, A, d_A)

# %% projections_backward
def projections_backward(d_Q, d_K, d_V, X, W_q, W_k, W_v):
    d_X = sum(np.einsum("nk,dk->nd", d, W) for d, W in ((d_Q, W_q), (d_K, W_k), (d_V, W_v)))
    return d_X, *(np.einsum("nd,nk->dk", X, d) for d in (d_Q, d_K, d_V))

# %% relu_backward
def relu_backward(d_H, B):
    return np.einsum("nf,nf->nf", d_H, np.where(B > 0, 1.0, 0.0))

# %% mixing_backward
def mixing_backward(d_Y, A, V):
    return np.einsum("iv,jv->ij", d_Y, V), np.einsum("ij,iv->jv", A, d_Y)

# %% scores_backward
def scores_backward(d_S, Q, K):
    d_S = d_S * Q.shape[1] ** -0.5
    return np.einsum("ij,jk->ik", d_S, K), np.einsum("ij,ik->jk", d_S, Q)

# %% attention_backward
def attention_backward(d_Y, Q, K, V, mask, parts):
    S = np.einsum("ik,jk->ij", Q, K) * Q.shape[1] ** -0.5
    if mask is not None:
        S[~mask] = -np.inf
    A = softmax(S)
    d_A, d_V = parts["mixing"](d_Y, A, V)
    return *parts["scores"](parts["softmax"](d_A, S), Q, K), d_V

# %% [solution] *
