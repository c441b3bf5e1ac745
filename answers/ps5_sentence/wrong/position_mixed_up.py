"""The last two words have each other's position; what follows is right for these inputs.

Loses:
    test_positions: all five words with their positions
Keeps:
    everything else
"""

# %% add_positions
me_embed_pos = me_ + pos_1
gusta_embed_pos = gusta_ + pos_2
estudiar_embed_pos = estudiar_ + pos_3
inteligencia_embed_pos = inteligencia_ + pos_5
artificial_embed_pos = artificial_ + pos_4

# %% [solution] *
