"""The embeddings are used without positions; what follows is right for these inputs.

Loses:
    test_positions: *
Keeps:
    everything else
"""

# %% add_positions
me_embed_pos = me_
gusta_embed_pos = gusta_
estudiar_embed_pos = estudiar_
inteligencia_embed_pos = inteligencia_
artificial_embed_pos = artificial_

# %% [solution] *
