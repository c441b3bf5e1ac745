"""Every product is an einsum, whose indices say over what is summed."""

# %% cross_entropy_backward
def cross_entropy_backward(d_loss, logits, targets):
    one_hot = np.zeros_like(logits)
    one_hot[range(len(targets)), targets] = 1
    return np.einsum(",nv->nv", d_loss / len(logits), softmax(logits) - one_hot)

# %% linear_backward
def linear_backward(d_Y, X, W, b):
    return np.einsum("no,io->ni", d_Y, W), np.einsum("ni,no->io", X, d_Y), np.einsum("no->o", d_Y)

# %% feed_forward_backward
def feed_forward_backward(d_Y, X, W_1, b_1, W_2, b_2):
    before = np.einsum("nd,df->nf", X, W_1) + b_1
    passes = np.where(before > 0, 1.0, 0.0)
    d_before = np.einsum("no,fo,nf->nf", d_Y, W_2, passes)
    return (
        np.einsum("nf,df->nd", d_before, W_1),
        np.einsum("nd,nf->df", X, d_before),
        d_before.sum(0),
        np.einsum("nf,nf,no->fo", before, passes, d_Y),
        d_Y.sum(0),
    )

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

# %% attention_backward
def attention_backward(d_Y, Q, K, V):
    A = attention_weights(Q, K)
    d_A = np.einsum("iv,jv->ij", d_Y, V)
    d_S = np.einsum("ij,ij->ij", A, d_A) - np.einsum("ij,ik,ik->ij", A, A, d_A)
    d_S = d_S * Q.shape[1] ** -0.5
    return np.einsum("ij,jk->ik", d_S, K), np.einsum("ij,ik->jk", d_S, Q), np.einsum("ij,iv->jv", A, d_Y)

# %% projections_backward
def projections_backward(d_Q, d_K, d_V, X, W_q, W_k, W_v):
    d_X = sum(np.einsum("nk,dk->nd", d, W) for d, W in ((d_Q, W_q), (d_K, W_k), (d_V, W_v)))
    return d_X, *(np.einsum("nd,nk->dk", X, d) for d in (d_Q, d_K, d_V))

# %% [solution] *
