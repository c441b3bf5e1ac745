"""The logits of the full pass are those of one cached step after the other; parameters have other names."""

# %% decoder_logits
def decoder_logits(sentence, network):
    store = empty(network)
    table = []
    for word in sentence:
        logits, store = step(word, store, network)
        table.append(logits)
    return np.vstack(table)


def empty(network):
    return [{"keys": np.zeros((*b["W_k"].shape[:1], 0, b["W_k"].shape[2])),
             "values": np.zeros((*b["W_v"].shape[:1], 0, b["W_v"].shape[2]))} for b in network["blocks"]]


def step(word, store, network):
    row = network["embedding"][word] + network["positions"][store[0]["keys"].shape[1]]
    result = []
    for b, old in zip(network["blocks"], store):
        seen = layer_norm(row, b["gamma_1"], b["beta_1"])
        keys = np.concatenate((old["keys"], np.tensordot(seen, b["W_k"], (0, 1))[:, None]), 1)
        values = np.concatenate((old["values"], np.tensordot(seen, b["W_v"], (0, 1))[:, None]), 1)
        query = np.tensordot(seen, b["W_q"], (0, 1)) / math.sqrt(b["W_q"].shape[2])
        weights = softmax(np.matmul(keys, query[:, :, None])[:, :, 0])
        mixed = np.matmul(weights[:, None], values)[:, 0]
        row = row + np.tensordot(mixed, b["W_o"], 2)
        row = row + feed_forward(layer_norm(row, b["gamma_2"], b["beta_2"]), b["W_1"], b["b_1"], b["W_2"], b["b_2"])
        result.append({"keys": keys, "values": values})
    return layer_norm(row, network["gamma"], network["beta"]) @ network["unembedding"], result


import math

# %% cross_entropy
def cross_entropy(table, answers):
    biggest = np.array([max(line) for line in table])
    part = np.array([line[a] for line, a in zip(table, answers)])
    return float(np.mean(biggest - part + np.log(np.exp(table.T - biggest).sum(axis=0))))


# %% next_probabilities
def next_probabilities(line, warmth=1.0, k=None):
    def soft(v):
        v = np.exp(v - v.max())
        return v / v.sum()

    if k is not None and k < len(line):
        threshold = sorted(line)[-k]
        line = np.array([x if x >= threshold else -np.inf for x in line])
    return soft(line / warmth)


# %% draw
def draw(p, number):
    edges = np.cumsum(p)
    return int((edges <= number).sum())


# %% generate
def generate(start, model_of, chosen, how_many):
    result = list(start)
    while how_many > 0:
        *_, newest = model_of(result)
        result = result + [int(chosen(newest))]
        how_many -= 1
    return tuple(result)


# %% decode_step
decode_step = step

# %% multiplications
def multiplications(rows, seen, network):
    def matrices(b):
        yield from (b[name].shape[-2:] for name in ("W_1", "W_2"))
        for head in range(len(b["W_q"])):
            yield from (b[name][head].shape for name in ("W_q", "W_k", "W_v", "W_o"))
            yield seen, b["W_k"][head].shape[1]
            yield seen, b["W_v"][head].shape[1]

    pairs = [network["unembedding"].shape, *(pair for b in network["blocks"] for pair in matrices(b))]
    return rows * sum(a * b for a, b in pairs)


# %% online_update
def online_update(state, new_scores, new_values):
    m, s, o = state
    m_chunk = np.max(new_scores)  # the chunk's own state first, then the two are merged
    p = np.exp(new_scores - m_chunk)
    m_new = np.fmax(m, m_chunk)
    a, b = np.exp(m - m_new), np.exp(m_chunk - m_new)
    return m_new, a * s + b * p.sum(), a * np.asarray(o) + b * (new_values.T @ p)
