"""The loss from probabilities that are safe, logaddexp for the sums, and the gradient through the Jacobian of the softmax."""

# %% bigram_loss
def bigram_loss(W, inputs, targets):
    log_sums = np.array([np.logaddexp.reduce(W[a]) for a in inputs])
    return np.average(log_sums - W[inputs, targets])

# %% logits_gradient
def logits_gradient(logits, targets):
    result = []
    for row, t in zip(logits, targets):
        p = np.exp(row - np.logaddexp.reduce(row))
        jacobian_row = -p  # the derivative of log p_t is (k == t) - p_k
        jacobian_row[t] += 1
        result.append(-jacobian_row / len(targets))
    return np.array(result)

# %% table_gradient
def table_gradient(d_logits, inputs, vocabulary):
    gradient = {}
    for place, a in enumerate(inputs):
        gradient[int(a)] = gradient.get(int(a), 0) + d_logits[place]
    return np.array([gradient.get(a, np.zeros(vocabulary)) + np.zeros(vocabulary) for a in range(vocabulary)])

# %% [solution] *
