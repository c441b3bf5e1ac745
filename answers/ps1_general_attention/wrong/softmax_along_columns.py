"""The softmax runs down the columns instead of along the rows, for the four words and in the function.

Loses:
    test_attention_matrices: the shape of weights, and rows that sum to one
    test_attention_matrices: the weights of all words
    test_general_attention: the four words of this notebook
    test_general_attention: attention for new random numbers
    test_general_attention: weights for new random numbers
    test_general_attention_sizes: *
Keeps:
    everything else
"""

# %% [solution] *

# %% attention_matrices
scores = Q @ K.T
weights = softmax(scores / np.sqrt(3), axis=0)
attention = weights @ V

# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    Q = words @ W_Q
    K = words @ W_K
    V = words @ W_V
    weights = softmax(Q @ K.T / np.sqrt(K.shape[1]), axis=0)
    return weights @ V, weights

# %% [markdown] why_divide_answer
# With the division 0.236, 0.007, 0.749, 0.007, without it 0.119, 0.000, 0.880, 0.000. I think the ratios are 3.17 and 7.39.
# The largest weight stays. Everything goes to 1/4.
# Scores have variance d_k, so without division the softmax is too sharp.
