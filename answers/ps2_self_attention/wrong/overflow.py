"""Both softmaxes use equation (5) unchanged, which overflows for scores of 1000.

Loses:
    test_softmax_large: *
    test_softmax_cols_large: *
Keeps:
    everything else
"""

# %% softmax
def softmax(items_in):
    exp_items = np.exp(np.array(items_in))
    return exp_items / np.sum(exp_items)

# %% softmax_cols
def softmax_cols(data_in):
    exp_values = np.exp(data_in)
    return exp_values / np.sum(exp_values, axis=0)

# %% [solution] *

# %% [markdown] cost_answer
# (a) K^T Q holds all the dot products k_m q_n in row m and column n. (6) is the product with V.
# (b) 3ND^2, N^2, N^2.
# (c) (i) 2 times, (ii) and (iii) 4 times, from N^2 > 1.5 N D^2 on.
