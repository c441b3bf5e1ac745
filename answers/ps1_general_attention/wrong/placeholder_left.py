"""Everything is right, but the line that raises is left above the code of the function.

Loses:
    test_general_attention: *
    test_general_attention_sizes: *
Keeps:
    everything else
"""

# %% [solution] *

# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    raise NotImplementedError()
    Q = words @ W_Q
    K = words @ W_K
    V = words @ W_V
    weights = softmax(Q @ K.T / np.sqrt(K.shape[1]), axis=1)
    return weights @ V, weights

# %% [markdown] why_divide_answer
# The weights would be 0.119, 0.000, 0.880, 0.000 without and are 0.236, 0.007, 0.749, 0.007 with. exp(2) = 7.39,
# exp(2/sqrt(3)) = 3.17. The same word stays on top, all tend to 0.25. Typical size d_k, so a score is about 300 and
# the softmax becomes a hard choice.
