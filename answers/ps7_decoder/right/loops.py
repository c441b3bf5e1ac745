"""Plain Python loops and sums; the cache is a list of lists of numbers."""

# %% decoder_logits
import math


def times(row, matrix):
    return [sum(row[d] * matrix[d][k] for d in range(len(row))) for k in range(len(matrix[0]))]


def decoder_logits(tokens, model):
    rows = []
    for i, t in enumerate(tokens):
        rows.append([e + p for e, p in zip(model["embedding"][t], model["positions"][i])])
    for block in model["blocks"]:
        rows, weights = transformer_block(np.array(rows), block, causal_mask(len(tokens)))
    return [times(layer_norm(row, model["gamma"], model["beta"]), model["unembedding"]) for row in rows]


# %% cross_entropy
def cross_entropy(logits, targets):
    total = 0
    for i in range(len(targets)):
        row = list(logits[i])
        m = max(row)
        total += m + math.log(sum(math.exp(x - m) for x in row)) - row[targets[i]]
    return total / len(targets)


# %% next_probabilities
def next_probabilities(logits, temperature=1.0, top_k=None):
    order = sorted(range(len(logits)), key=lambda t: -logits[t])
    kept = order if top_k is None else order[:top_k]
    m = max(logits)
    result = [0.0] * len(logits)
    for t in kept:
        result[t] = math.exp((logits[t] - m) / temperature)
    total = sum(result)
    return [x / total for x in result]


# %% draw
def draw(probabilities, u):
    cumulated = 0
    for t, p in enumerate(probabilities):
        cumulated += p
        if cumulated > u:
            return t
    return len(probabilities) - 1


# %% generate
def generate(tokens, logits_of, pick, count):
    if count == 0:
        return tokens[:]
    rows = logits_of(tokens)
    return generate(tokens + [pick(rows[len(rows) - 1])], logits_of, pick, count - 1)


# %% decode_step
def decode_step(token, cache, model):
    n = len(cache[0]["keys"][0])
    x = [e + p for e, p in zip(model["embedding"][token], model["positions"][n])]
    new_cache = []
    for number, block in enumerate(model["blocks"]):
        a = layer_norm(np.array(x), block["gamma_1"], block["beta_1"])
        new_keys, new_values = [], []
        z = list(x)
        for h in range(len(block["W_q"])):
            q = times(a, block["W_q"][h])
            keys = [list(row) for row in cache[number]["keys"][h]] + [times(a, block["W_k"][h])]
            values = [list(row) for row in cache[number]["values"][h]] + [times(a, block["W_v"][h])]
            scores = [sum(s * r for s, r in zip(q, key)) / math.sqrt(len(q)) for key in keys]
            m = max(scores)
            powers = [math.exp(s - m) for s in scores]
            for power, value in zip(powers, values):
                out = times(value, block["W_o"][h])
                for d in range(len(z)):
                    z[d] += power / sum(powers) * out[d]
            new_keys.append(keys)
            new_values.append(values)
        b = layer_norm(np.array(z), block["gamma_2"], block["beta_2"])
        inner = [max(0.0, h + c) for h, c in zip(times(b, block["W_1"]), block["b_1"])]
        x = [z[d] + f + block["b_2"][d] for d, f in enumerate(times(inner, block["W_2"]))]
        new_cache.append({"keys": new_keys, "values": new_values})
    return times(layer_norm(np.array(x), model["gamma"], model["beta"]), model["unembedding"]), new_cache


# %% multiplications
def multiplications(new, length, model):
    count = new * len(model["unembedding"]) * len(model["unembedding"][0])
    for block in model["blocks"]:
        for h in range(len(block["W_q"])):
            d_model, d_k = block["W_q"][h].shape
            d_v = len(block["W_v"][h][0])
            count += 2 * new * d_model * d_k  # queries, keys
            count += new * d_model * d_v
            count += new * d_k * length
            count += new * length * d_v
            count += new * d_v * d_model
        count += new * block["W_1"].size + new * block["W_2"].size
    return count


# %% online_update
def online_update(state, scores, values):
    m, s, o = state
    o = list(o)
    for score, value in zip(scores, values):
        if score > m:
            factor = math.exp(m - score)
            s *= factor
            o = [factor * entry for entry in o]
            m = score
        power = math.exp(score - m)
        s += power
        o = [entry + power * v for entry, v in zip(o, value)]
    return [m, s, o]


# %% [markdown] cache_question_answer
# Because of the mask.
