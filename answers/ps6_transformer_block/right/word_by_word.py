"""One word at a time: a helper for a single row stands behind each function."""

# %% [solution] *

# %% sinusoidal_positions
def place(n, d_model):
    turns = np.exp(1j * n * 10000.0 ** (-np.arange(0, d_model, 2) / d_model))
    return np.column_stack([turns.imag, turns.real]).ravel()


def sinusoidal_positions(N, d_model):
    return np.array([place(n, d_model) for n in range(N)])

# %% causal_mask
def causal_mask(N):
    mask = np.zeros((N, N), dtype=bool)
    for i in range(N):
        mask[i, : i + 1] = True
    return mask

# %% multihead_attention
def one_word(x, others, W_q, W_k, W_v, W_o):
    """What one word hears from the others, and with which weights."""
    scores = np.array([(o @ W_k) @ (x @ W_q) for o in others]) / np.sqrt(W_k.shape[1])
    weights = softmax(scores)
    return weights @ (others @ W_v) @ W_o, weights


def multihead_attention(X, W_q, W_k, W_v, W_o, mask=None):
    attention = np.zeros((len(X), W_o.shape[-1]))
    weights = np.zeros((len(W_q), len(X), len(X)))
    for h, head in enumerate(zip(W_q, W_k, W_v, W_o)):
        for i, x in enumerate(X):
            places = range(len(X)) if mask is None else np.flatnonzero(mask[i])
            heard, shares = one_word(x, X[list(places)], *head)
            attention[i] += heard
            weights[h, i, list(places)] = shares
    return attention, weights

# %% layer_norm
def layer_norm(X, gamma, beta, eps=1e-5):
    return np.apply_along_axis(lambda x: gamma * (x - x.mean()) / np.sqrt(x.var() + eps) + beta, 1, X)

# %% feed_forward
def feed_forward(X, W_1, b_1, W_2, b_2):
    return np.stack([np.maximum(x @ W_1 + b_1, 0) @ W_2 + b_2 for x in X])
