"""Stacked heads flattened to wide matrices, additive masks, a cache of preallocated room, lambda-like helpers."""

# %% decoder_logits
def wide(W):
    """H x d_model x d_k as d_model x (H d_k)."""
    return np.concatenate(list(W), axis=1)


def decoder_logits(tokens, model):
    X = np.eye(len(model["embedding"]))[tokens] @ model["embedding"]  # one-hot rows
    X = X + model["positions"][0 : X.shape[0]]
    N = X.shape[0]
    for b in model["blocks"]:
        H, _, d_k = b["W_q"].shape
        d_v = b["W_v"].shape[2]
        A = layer_norm(X, b["gamma_1"], b["beta_1"])
        Q = (A @ wide(b["W_q"])).reshape(N, H, d_k)
        K = (A @ wide(b["W_k"])).reshape(N, H, d_k)
        V = (A @ wide(b["W_v"])).reshape(N, H, d_v)
        heads = []
        for h in range(H):
            scores = Q[:, h] @ K[:, h].T / np.sqrt(d_k) + np.where(np.tri(N) > 0, 0, -np.inf)
            heads.append(softmax(scores) @ V[:, h])
        X = X + np.hstack(heads) @ b["W_o"].reshape(H * d_v, -1)
        X = X + feed_forward(layer_norm(X, b["gamma_2"], b["beta_2"]), b["W_1"], b["b_1"], b["W_2"], b["b_2"])
    return layer_norm(X, model["gamma"], model["beta"]) @ model["unembedding"]


# %% cross_entropy
def cross_entropy(logits, targets):
    margins = (logits.T - logits[range(len(logits)), list(targets)]).T
    top = np.maximum(margins.max(axis=1), 0)
    return np.mean(top + np.log(np.exp(margins - top[:, None]).sum(axis=1)))


# %% next_probabilities
def next_probabilities(logits, temperature=1.0, top_k=None):
    ranks = np.argsort(np.argsort(-logits))
    kept = ranks < (len(logits) if top_k is None else top_k)
    powers = np.where(kept, np.exp((logits - logits.max()) / temperature), 0)
    return powers / powers.sum()


# %% draw
def draw(probabilities, u):
    for t in range(len(probabilities)):
        u = u - probabilities[t]
        if u < 0:
            break
    return t


# %% generate
def generate(tokens, logits_of, pick, count):
    text = list(tokens) + [None] * count
    for place in range(len(tokens), len(text)):
        logits = logits_of(text[:place])
        text[place] = pick(logits[place - 1])
    return text


# %% decode_step
def decode_step(token, cache, model):
    grown = []
    n = cache[0]["keys"].shape[1]
    x = model["embedding"][token] + model["positions"][n]
    for b, old in zip(model["blocks"], cache):
        a = layer_norm(x, b["gamma_1"], b["beta_1"])
        H, _, d_k = b["W_q"].shape
        room = {"keys": np.zeros((H, n + 1, d_k)), "values": np.zeros((H, n + 1, b["W_v"].shape[2]))}
        for name, W in (("keys", b["W_k"]), ("values", b["W_v"])):
            room[name][:, :n] = old[name]
            room[name][:, n] = a @ W
        q = (a @ wide(b["W_q"])).reshape(H, d_k, 1)
        weights = softmax((room["keys"] @ q)[..., 0] / d_k**0.5)
        heads = [w @ v for w, v in zip(weights, room["values"])]
        x = x + np.concatenate(heads) @ np.vstack(list(b["W_o"]))
        x += feed_forward(layer_norm(x, b["gamma_2"], b["beta_2"]), b["W_1"], b["b_1"], b["W_2"], b["b_2"])
        grown += [room]
    return layer_norm(x, model["gamma"], model["beta"]).dot(model["unembedding"]), grown


# %% [solution] multiplications

# %% online_update
def online_update(state, scores, values):
    maximum, total, weighted = state
    new = np.max(np.hstack([maximum, scores]))
    rescale = 0.0 if maximum == -np.inf else np.exp(maximum - new)
    both = np.exp(scores - new) @ np.column_stack([np.ones(len(scores)), values])  # s and o in one product
    return new, rescale * total + both[0], rescale * weighted + both[1:]
