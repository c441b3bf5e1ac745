"""Everything but the count in single precision."""

# %% decoder_logits
def single(thing):
    if isinstance(thing, dict):
        return {name: single(part) for name, part in thing.items()}
    if isinstance(thing, list):
        return [single(part) for part in thing]
    return np.asarray(thing).astype(np.float32)


def decoder_logits(tokens, model):
    m = single(model)
    X = m["embedding"][tokens] + m["positions"][: len(tokens)]
    for block in m["blocks"]:
        X = transformer_block(X, block, mask=causal_mask(len(X)))[0].astype(np.float32)
    return (layer_norm(X, m["gamma"], m["beta"]) @ m["unembedding"]).astype(np.float32)


# %% cross_entropy
def cross_entropy(logits, targets):
    logits = logits.astype(np.float32)
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_chances = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return -log_chances[range(len(targets)), targets].mean()


# %% next_probabilities
def next_probabilities(logits, temperature=1.0, top_k=None):
    logits = np.float32(logits)
    least = -np.inf if top_k is None else np.sort(logits)[::-1][top_k - 1]
    return softmax(np.where(logits < least, np.float32(-np.inf), logits) / np.float32(temperature))


# %% [solution] draw

# %% generate
def generate(tokens, logits_of, pick, count):
    new = []
    for step in range(count):
        logits = np.asarray(logits_of(tokens + new), dtype=np.float32)
        new += [pick(logits[len(tokens) + step - 1])]
    return tokens + new


# %% decode_step
def decode_step(token, cache, model):
    m, grown = single(model), single(cache)
    x = m["embedding"][token] + m["positions"][grown[0]["keys"].shape[1]]
    for b, c in zip(m["blocks"], grown):
        a = layer_norm(x, b["gamma_1"], b["beta_1"]).astype(np.float32)
        c["keys"] = np.hstack([c["keys"], (a @ b["W_k"])[:, None, :]])
        c["values"] = np.hstack([c["values"], (a @ b["W_v"])[:, None, :]])
        for h in range(b["W_q"].shape[0]):
            weights = softmax(c["keys"][h] @ (a @ b["W_q"][h]) / np.float32(np.sqrt(b["W_q"].shape[2])))
            x = x + weights @ c["values"][h] @ b["W_o"][h]
        x = x + feed_forward(layer_norm(x, b["gamma_2"], b["beta_2"]), b["W_1"], b["b_1"], b["W_2"], b["b_2"])
    return layer_norm(x, m["gamma"], m["beta"]).astype(np.float32) @ m["unembedding"], grown


# %% [solution] multiplications

# %% online_update
def online_update(state, scores, values):
    scores, values = scores.astype(np.float32), values.astype(np.float32)
    m = max(np.float32(state[0]), scores.max())
    factor, powers = np.exp(np.float32(state[0]) - m), np.exp(scores - m)
    return m, np.float32(factor * state[1] + powers.sum()), np.float32(factor * state[2]) + powers @ values
