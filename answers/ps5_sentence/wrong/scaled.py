"""The scores are divided by the square root of d_k, although they should stay unscaled.

Loses:
    test_me: the weights and the output of me
    test_me: the weights of me to full precision
    test_gusta: the weights of gusta
    test_attention: shapes, sums of the weights and last rows
    test_attention: all weights
Keeps:
    everything else
"""

# %% attend_me
keys = np.stack([me_key, gusta_key, estudiar_key, inteligencia_key, artificial_key])
values = np.stack([me_value, gusta_value, estudiar_value, inteligencia_value, artificial_value])
me_alphas = softmax(keys @ me_query / np.sqrt(d_k))
me_attention = me_alphas @ values

# %% attend_gusta
gusta_alphas = softmax(keys @ gusta_query / np.sqrt(d_k))
gusta_attention = gusta_alphas @ values

# %% attend_sentence
alphas = softmax(Q @ K.T / np.sqrt(d_k))
attn_scores = alphas @ V

# %% [solution] *
