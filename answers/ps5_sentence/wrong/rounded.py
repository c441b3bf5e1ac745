"""Every result of a word is rounded to two decimals, as in a table for print.

Loses:
    test_projections: *
    test_me: the weights and the output of me
    test_me: the weights of me to full precision
    test_me: the output of me to full precision
    test_gusta: *
Keeps:
    everything else
"""

# %% project_words
me_query = np.round(me_embed_pos @ W_q, 2)
me_key = np.round(me_embed_pos @ W_k, 2)
me_value = np.round(me_embed_pos @ W_v, 2)
gusta_query = np.round(gusta_embed_pos @ W_q, 2)
gusta_key = np.round(gusta_embed_pos @ W_k, 2)
gusta_value = np.round(gusta_embed_pos @ W_v, 2)
estudiar_query = np.round(estudiar_embed_pos @ W_q, 2)
estudiar_key = np.round(estudiar_embed_pos @ W_k, 2)
estudiar_value = np.round(estudiar_embed_pos @ W_v, 2)
inteligencia_query = np.round(inteligencia_embed_pos @ W_q, 2)
inteligencia_key = np.round(inteligencia_embed_pos @ W_k, 2)
inteligencia_value = np.round(inteligencia_embed_pos @ W_v, 2)
artificial_query = np.round(artificial_embed_pos @ W_q, 2)
artificial_key = np.round(artificial_embed_pos @ W_k, 2)
artificial_value = np.round(artificial_embed_pos @ W_v, 2)

# %% attend_me
keys = np.stack([me_key, gusta_key, estudiar_key, inteligencia_key, artificial_key])
values = np.stack([me_value, gusta_value, estudiar_value, inteligencia_value, artificial_value])
me_alphas = np.round(softmax(keys @ me_query), 2)
me_attention = np.round(me_alphas @ values, 2)

# %% attend_gusta
gusta_alphas = np.round(softmax(keys @ gusta_query), 2)
gusta_attention = np.round(gusta_alphas @ values, 2)

# %% [solution] *
