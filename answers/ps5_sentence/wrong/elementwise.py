"""Only one value is used for each word: the word's own, times the sum of its weights.

Loses:
    test_me: the weights and the output of me
    test_me: the output of me to full precision
    test_gusta: the output of gusta
Keeps:
    everything else
"""

# %% attend_me
keys = np.stack([me_key, gusta_key, estudiar_key, inteligencia_key, artificial_key])
me_alphas = softmax(keys @ me_query)
me_attention = sum(alpha * me_value for alpha in me_alphas)

# %% attend_gusta
gusta_alphas = softmax(keys @ gusta_query)
gusta_attention = sum(alpha * gusta_value for alpha in gusta_alphas)

# %% [solution] *
