"""A single position is a matrix of one row; the step concatenates with hstack and keeps tuples as pairs."""

# %% decoder_logits
def decoder_logits(tokens, model):
    N = len(tokens)
    X = np.zeros((N, model["embedding"].shape[1]))
    for i in range(N):
        X[i] = model["embedding"][tokens[i]] + model["positions"][i]
    mask = np.arange(N)[:, None] >= np.arange(N)[None, :]
    for block in model["blocks"]:
        X = transformer_block(X, block, mask)[0]
    return np.dot(layer_norm(X, model["gamma"], model["beta"]), model["unembedding"])


# %% cross_entropy
def cross_entropy(logits, targets):
    losses = [np.log(np.sum(np.exp(row - row[target] - np.max(row - row[target])))) + np.max(row - row[target])
              for row, target in zip(logits, targets)]
    return sum(losses) / len(losses)


# %% next_probabilities
def next_probabilities(logits, temperature=1.0, top_k=None):
    if top_k is None:
        top_k = len(logits)
    kept = np.argsort(-logits)[:top_k]
    result = np.zeros(len(logits))
    result[kept] = softmax(logits[kept] / temperature)
    return result


# %% draw
def draw(probabilities, u):
    return np.flatnonzero(np.cumsum(probabilities) > u)[0]


# %% generate
def generate(tokens, logits_of, pick, count):
    return tokens if count == 0 else generate([*tokens, pick(logits_of(tokens)[len(tokens) - 1])], logits_of, pick, count - 1)


# %% decode_step
def decode_step(token, cache, model):
    place = cache[0]["keys"].shape[1]
    x = model["embedding"][[token]] + model["positions"][place : place + 1]  # 1 x d_model
    out = []
    for block, kept in zip(model["blocks"], cache):
        a = layer_norm(x, block["gamma_1"], block["beta_1"])
        q, k, v = a @ block["W_q"], a @ block["W_k"], a @ block["W_v"]  # H x 1 x d_k
        kept = dict(keys=np.hstack((kept["keys"], k)), values=np.hstack((kept["values"], v)))
        weights = softmax(q @ kept["keys"].transpose(0, 2, 1) / np.sqrt(k.shape[-1]))
        z = x + (weights @ kept["values"] @ block["W_o"]).sum(axis=0)
        x = z + feed_forward(layer_norm(z, block["gamma_2"], block["beta_2"]), *(block[n] for n in ("W_1", "b_1", "W_2", "b_2")))
        out.append(kept)
    return (layer_norm(x, model["gamma"], model["beta"]) @ model["unembedding"])[0], out


# %% [solution] multiplications

# %% online_update
def online_update(state, scores, values):
    m, s, o = state
    top = np.max([m, *scores])
    return top, s * np.exp(m - top) + np.exp(scores - top).sum(), o * np.exp(m - top) + np.exp(scores - top)[None] @ values


# %% [markdown] cache_question_answer
# 1. Row i depends on tokens 0..i only. Without a mask block 1's keys stay right, block 2's do not.
# 2. A query is used once.
# 3. 2 GiB, linear; 64 MiB with shared keys, the scores cost the same.
