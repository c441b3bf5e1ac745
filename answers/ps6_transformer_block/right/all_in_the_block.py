"""The block is written out without any of the functions before it, with a softmax of its own."""

# %% [solution] *

# %% multihead_attention
def multihead_attention(X, W_q, W_k, W_v, W_o, mask=None):
    q = np.tensordot(X, W_q, axes=([1], [1]))  # N x H x d_k
    k = np.tensordot(X, W_k, axes=([1], [1]))
    v = np.tensordot(X, W_v, axes=([1], [1]))
    s = np.einsum("ihk,jhk->ijh", q, k) / W_q.shape[-1] ** 0.5
    e = np.exp(s - s.max(axis=1, keepdims=True))
    if mask is not None:
        e = e * np.asarray(mask)[:, :, None]
    w = e / e.sum(axis=1, keepdims=True)
    return np.einsum("ijh,jhv,hvd->id", w, v, W_o), w.transpose(2, 0, 1)

# %% layer_norm
def layer_norm(X, gamma, beta, eps=1e-5):
    mean = X.mean(axis=1).reshape(-1, 1)
    variance = (X ** 2).mean(axis=1).reshape(-1, 1) - mean ** 2
    return (X - mean) * gamma / (variance + eps) ** 0.5 + beta

# %% transformer_block
def transformer_block(X, block, mask=None):
    def standard(rows):
        shifted = rows - np.mean(rows, 1, keepdims=True)
        return shifted / np.sqrt(np.mean(shifted * shifted, 1, keepdims=True) + 0.00001)

    inside = standard(X) * block["gamma_1"] + block["beta_1"]
    Y = X.copy()
    maps = np.zeros((len(block["W_q"]), len(X), len(X)))
    for h, (wq, wk, wv, wo) in enumerate(zip(*(block[k] for k in ["W_q", "W_k", "W_v", "W_o"]))):
        for i in range(len(X)):
            scores = inside @ wk @ (inside[i] @ wq) / np.sqrt(len(wq[0]))
            heard = np.ones(len(X), bool) if mask is None else mask[i]
            powers = np.exp(scores[heard] - scores[heard].max())
            maps[h, i, heard] = powers / powers.sum()
        Y += maps[h] @ inside @ wv @ wo
    inside = standard(Y) * block["gamma_2"] + block["beta_2"]
    hidden = inside @ block["W_1"] + block["b_1"]
    return Y + (hidden * (hidden > 0)) @ block["W_2"] + block["b_2"], maps
