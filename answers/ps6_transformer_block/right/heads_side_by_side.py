"""As in ps4: a loop over the heads, their outputs side by side, times one large matrix; a list is returned."""

# %% sinusoidal_positions
def sinusoidal_positions(N, d_model):
    half = d_model // 2
    angles = np.outer(np.arange(N), 10000.0 ** (-2 * np.arange(half) / d_model))
    return np.dstack([np.sin(angles), np.cos(angles)]).reshape(N, d_model)

# %% causal_mask
def causal_mask(N):
    i = np.arange(N)
    return i[:, None] >= i[None, :]

# %% multihead_attention
def multihead_attention(X, W_q, W_k, W_v, W_o, mask=None):
    outputs, maps = [], []
    for h in range(W_q.shape[0]):
        Q, K, V = X @ W_q[h], X @ W_k[h], X @ W_v[h]
        S = Q @ K.T / np.sqrt(K.shape[1])
        if mask is not None:
            S[~mask] = -np.inf
        A = softmax(S)
        maps.append(A)
        outputs.append(A @ V)
    large = np.concatenate(list(W_o), axis=0)
    return [np.concatenate(outputs, axis=1) @ large, np.array(maps)]

# %% layer_norm
def layer_norm(X, gamma, beta, eps=1e-5):
    Xt = X.T
    normed = (Xt - Xt.mean(axis=0)) / np.sqrt(Xt.var(axis=0) + eps)
    return normed.T * gamma + beta

# %% feed_forward
def feed_forward(X, W_1, b_1, W_2, b_2):
    H = X.dot(W_1) + b_1
    H[H < 0] = 0
    return H.dot(W_2) + b_2

# %% transformer_block
def transformer_block(X, block, mask=None):
    a, w = multihead_attention(layer_norm(X, block["gamma_1"], block["beta_1"]),
                               *[block[name] for name in ("W_q", "W_k", "W_v", "W_o")], mask=mask)
    Z = X + a
    f = feed_forward(layer_norm(Z, block["gamma_2"], block["beta_2"]),
                     *[block[name] for name in ("W_1", "b_1", "W_2", "b_2")])
    return [Z + f, w]
