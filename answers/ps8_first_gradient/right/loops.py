"""The sums are loops over single numbers."""

# %% bigram_loss
def bigram_loss(W, inputs, targets):
    total = 0.0
    for a, b in zip(inputs, targets):
        highest = max(W[a])
        total += highest + np.log(sum(np.exp(z - highest) for z in W[a])) - W[a][b]
    return total / len(inputs)

# %% numerical_gradient
def numerical_gradient(function, x, step=1e-5):
    flat = x.ravel()
    result = []
    for i in range(flat.size):
        move = np.zeros(flat.size)
        move[i] = step
        above = function((flat + move).reshape(x.shape))
        below = function((flat - move).reshape(x.shape))
        result.append((above - below) / (2 * step))
    return np.array(result).reshape(x.shape)

# %% logits_gradient
def logits_gradient(logits, targets):
    N, vocabulary = logits.shape
    result = np.zeros((N, vocabulary))
    for n in range(N):
        highest = max(logits[n])
        total = sum(np.exp(z - highest) for z in logits[n])
        for k in range(vocabulary):
            p = np.exp(logits[n, k] - highest) / total
            result[n, k] = (p - 1) / N if k == targets[n] else p / N
    return result

# %% table_gradient
def table_gradient(d_logits, inputs, vocabulary):
    result = np.zeros((vocabulary, vocabulary))
    for a, row in zip(inputs, d_logits):
        result[a] += row
    return result

# %% [solution] *
