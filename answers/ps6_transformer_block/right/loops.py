"""Plain Python: loops and lists everywhere, no array is ever made."""

# %% sinusoidal_positions
def sinusoidal_positions(N, d_model):
    import math
    rows = []
    for n in range(N):
        row = []
        for column in range(d_model):
            angle = n / 10000 ** ((column - column % 2) / d_model)
            row.append(math.cos(angle) if column % 2 else math.sin(angle))
        rows.append(row)
    return rows

# %% causal_mask
def causal_mask(N):
    return [[column <= row for column in range(N)] for row in range(N)]

# %% multihead_attention
def times(vector, matrix):
    return [sum(v * row[j] for v, row in zip(vector, matrix)) for j in range(len(matrix[0]))]


def multihead_attention(X, W_q, W_k, W_v, W_o, mask=None):
    import math
    attention = [[0.0] * len(W_o[0][0]) for _ in X]
    weights = []
    for h in range(len(W_q)):
        keys = [times(x, W_k[h]) for x in X]
        values = [times(x, W_v[h]) for x in X]
        rows = []
        for i, x in enumerate(X):
            query = times(x, W_q[h])
            scores = [sum(a * b for a, b in zip(query, key)) / math.sqrt(len(query)) for key in keys]
            allowed = [mask is None or bool(mask[i][j]) for j in range(len(X))]
            top = max(s for s, a in zip(scores, allowed) if a)
            powers = [math.exp(s - top) if a else 0.0 for s, a in zip(scores, allowed)]
            row = [p / sum(powers) for p in powers]
            mixed = [sum(w * value[k] for w, value in zip(row, values)) for k in range(len(values[0]))]
            for column, entry in enumerate(times(mixed, W_o[h])):
                attention[i][column] += entry
            rows.append(row)
        weights.append(rows)
    return attention, weights

# %% layer_norm
def layer_norm(X, gamma, beta, eps=1e-5):
    result = []
    for row in X:
        mean = sum(row) / len(row)
        variance = sum((x - mean) ** 2 for x in row) / len(row)
        result.append([g * (x - mean) / (variance + eps) ** 0.5 + b for x, g, b in zip(row, gamma, beta)])
    return result

# %% feed_forward
def feed_forward(X, W_1, b_1, W_2, b_2):
    result = []
    for row in X:
        hidden = [max(0.0, a + b) for a, b in zip(times(row, W_1), b_1)]
        result.append([a + b for a, b in zip(times(hidden, W_2), b_2)])
    return result

# %% transformer_block
def transformer_block(X, block, mask=None):
    normed = layer_norm(X, block["gamma_1"], block["beta_1"])
    change, weights = multihead_attention(normed, block["W_q"], block["W_k"], block["W_v"], block["W_o"], mask)
    Z = [[x + c for x, c in zip(*rows)] for rows in zip(X, change)]
    change = feed_forward(layer_norm(Z, block["gamma_2"], block["beta_2"]),
                          block["W_1"], block["b_1"], block["W_2"], block["b_2"])
    return [[z + c for z, c in zip(*rows)] for rows in zip(Z, change)], weights

# %% [markdown] why_these_parts_answer
# 1. The rows do not sum to one, and the masked scores are still in the denominator, so me notices when artificial changes.
# 2. After twelve blocks all rows are means of means. The gradient would have to go through every layer.
# 3. Attention: the only product with a matrix from the left.
