"""The outputs are sums of the keys instead of the values.

Loses:
    test_me: the weights and the output of me
    test_me: the output of me to full precision
    test_gusta: the output of gusta
    test_attention: shapes, sums of the weights and last rows
    test_attention: all outputs
Keeps:
    everything else
"""

# %% attend_me
keys = np.stack([me_key, gusta_key, estudiar_key, inteligencia_key, artificial_key])
me_alphas = softmax(keys @ me_query)
me_attention = me_alphas @ keys

# %% attend_gusta
gusta_alphas = softmax(keys @ gusta_query)
gusta_attention = gusta_alphas @ keys

# %% attend_sentence
alphas = softmax(Q @ K.T)
attn_scores = alphas @ K

# %% [solution] *
