"""Each entry is moved in the caller's own array, and put back; the rows of the table in a dictionary."""

# %% numerical_gradient
def numerical_gradient(function, x, step=1e-5):
    def moved(entry, by):
        x.flat[entry] += by
        return function(x)

    def slope(entry):
        before = x.flat[entry]
        try:
            return (moved(entry, step) - moved(entry, -2 * step)) / (2 * step)
        finally:
            x.flat[entry] = before

    return np.array([slope(entry) for entry in range(x.size)], dtype=float).reshape(x.shape)

# %% table_gradient
def table_gradient(d_logits, inputs, vocabulary):
    rows = {word: np.zeros(vocabulary) for word in range(vocabulary)}
    for word, row in zip(inputs, d_logits):
        rows[int(word)] = rows[int(word)] + row
    return np.array([*rows.values()])

# %% [solution] *
