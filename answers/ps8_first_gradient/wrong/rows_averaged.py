"""The rows of a word are averaged.

Loses:
    test_table_gradient: a word that occurs twice
    test_table_gradient: random gradients and inputs
    test_table_gradient: other sizes, and arguments that stay as they were
Keeps:
    everything else
"""

# %% table_gradient
def table_gradient(d_logits, inputs, vocabulary):
    gradient = np.zeros((vocabulary, vocabulary))
    for word in range(vocabulary):
        if np.any(inputs == word):
            gradient[word] = d_logits[inputs == word].mean(axis=0)
    return gradient

# %% [solution] *
