"""The softmax fills an array of objects, weight by weight."""

# %% softmax
def softmax(x):
    weights = np.empty(np.shape(x), dtype=object)
    for place, score in np.ndenumerate(x):
        row = x[place[:-1]]
        weights[place] = np.exp(score - max(row)) / sum(np.exp(row - max(row)))
    return weights

# %% [solution] *
