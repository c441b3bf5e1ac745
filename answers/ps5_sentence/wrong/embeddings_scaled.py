"""The embeddings are multiplied by the root of d_model, as the transformer of 2017 does; what follows is right.

Loses:
    test_positions: *
Keeps:
    everything else
"""

# %% add_positions
root = np.sqrt(d_model)
me_embed_pos = me_ * root + pos_1
gusta_embed_pos = gusta_ * root + pos_2
estudiar_embed_pos = estudiar_ * root + pos_3
inteligencia_embed_pos = inteligencia_ * root + pos_4
artificial_embed_pos = artificial_ * root + pos_5

# %% [solution] *
