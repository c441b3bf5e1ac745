"""The key of the word is compared with all queries, and K Q^T stands for Q K^T.

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
queries = np.stack([me_query, gusta_query, estudiar_query, inteligencia_query, artificial_query])
values = np.stack([me_value, gusta_value, estudiar_value, inteligencia_value, artificial_value])
me_alphas = softmax(queries @ me_key)
me_attention = me_alphas @ values

# %% attend_gusta
gusta_alphas = softmax(queries @ gusta_key)
gusta_attention = gusta_alphas @ values

# %% attend_sentence
alphas = softmax(K @ Q.T)
attn_scores = alphas @ V

# %% [solution] *
