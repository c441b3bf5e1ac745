"""No mask: each position is the last one of its own prefix; the cache is changed in place; other ways to the same logarithms."""

# %% decoder_logits
def decoder_logits(tokens, model):
    def last(prefix):
        # in the last row nothing is masked, but the rows above need their own prefixes: a stack of blocks with the mask
        X = model["embedding"][prefix] + model["positions"][: len(prefix)]
        for block in model["blocks"]:
            X, _ = transformer_block(X, block, np.tri(len(prefix), dtype=bool))
        return layer_norm(X[-1], model["gamma"], model["beta"]) @ model["unembedding"]

    return np.stack([last(tokens[: i + 1]) for i in range(len(tokens))])


# %% cross_entropy
def cross_entropy(logits, targets):
    result = np.array([np.logaddexp.reduce(row) for row in logits]) - np.take_along_axis(logits, np.array(targets)[:, None], 1)[:, 0]
    return np.array([[np.average(result)]])


# %% next_probabilities
def next_probabilities(logits, temperature=1.0, top_k=None):
    z = logits.copy()
    if top_k:
        order = z.argsort()
        z[order[: len(z) - top_k]] = -np.inf
    z = z / temperature
    return np.exp(z - np.logaddexp.reduce(z))


# %% draw
def draw(probabilities, u):
    t = 0
    while u >= np.sum(probabilities[: t + 1]):
        t += 1
    return t


# %% generate
def generate(tokens, logits_of, pick, count):
    import copy as c
    text = c.deepcopy(tokens)
    for step in range(len(tokens), len(tokens) + count):
        text.insert(step, pick(np.asarray(logits_of(text))[step - 1, :]))
    return text


# %% decode_step
def attend(a, block, kept):
    result = 0
    new = {"keys": [], "values": []}
    for h in range(len(block["W_q"])):
        K = np.vstack([kept["keys"][h], a @ block["W_k"][h]])
        V = np.vstack([kept["values"][h], a @ block["W_v"][h]])
        scores = K @ (block["W_q"][h].T @ a) / np.sqrt(K.shape[1])
        result = result + softmax(scores) @ V @ block["W_o"][h]
        new["keys"].append(K)
        new["values"].append(V)
    kept.update({name: np.array(rows) for name, rows in new.items()})
    return result


def decode_step(token, cache, model):
    n = len(cache[0]["keys"][0])
    x = model["embedding"][token, :] + model["positions"][n, :]
    for b in range(len(model["blocks"])):
        block = model["blocks"][b]
        x = x + attend(layer_norm(x, block["gamma_1"], block["beta_1"]), block, cache[b])
        hidden = layer_norm(x, block["gamma_2"], block["beta_2"]) @ block["W_1"] + block["b_1"]
        x = x + np.where(hidden > 0, hidden, 0) @ block["W_2"] + block["b_2"]
    return [layer_norm(x, model["gamma"], model["beta"]) @ model["unembedding"], cache]


# %% multiplications
def multiplications(new, length, model):
    d_model = model["embedding"].shape[1]
    per_block = []
    for block in model["blocks"]:
        H, _, d_k = block["W_k"].shape
        d_v, d_ff = block["W_v"].shape[2], len(block["b_1"])
        per_block.append(H * (2 * d_model * d_k + 2 * d_model * d_v + length * (d_k + d_v)) + 2 * d_model * d_ff)
    return float(new * (sum(per_block) + model["unembedding"].size))


# %% online_update
def online_update(state, scores, values):
    m, s, o = state
    for score, value in zip(scores, values):
        higher = np.maximum(m, score)
        s = s * np.exp(m - higher) + np.exp(score - higher)
        o *= np.exp(m - higher)  # the state may be changed
        o += np.exp(score - higher) * value
        m = higher
    return (m, s, o)
