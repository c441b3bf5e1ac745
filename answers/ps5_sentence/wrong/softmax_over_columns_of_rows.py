"""The softmax runs down the columns, and gets each word's scores as a matrix with one row: every weight is 1.

Loses:
    test_softmax: *
    test_softmax_sizes: *
    test_softmax_stable: large scores in rows that lie far apart
Keeps:
    everything else
"""

# %% softmax
def softmax(x):
    powers = np.exp(x - np.max(x, axis=0))
    return powers / np.sum(powers, axis=0)

# %% attend_me
keys = np.stack([me_key, gusta_key, estudiar_key, inteligencia_key, artificial_key])
values = np.stack([me_value, gusta_value, estudiar_value, inteligencia_value, artificial_value])
me_alphas = softmax((keys @ me_query)[None])
me_attention = me_alphas @ values

# %% attend_gusta
gusta_alphas = softmax((keys @ gusta_query)[None])
gusta_attention = gusta_alphas @ values

# %% [solution] *
