"""The values are made with W_k, both word by word and in the matrix.

Loses:
    test_projections: the query, key and value of me
    test_projections: the values of all five words
    test_matrices: all numbers of the queries, keys and values
Keeps:
    everything else
"""

# %% project_words
me_query = me_embed_pos @ W_q
me_key = me_embed_pos @ W_k
me_value = me_embed_pos @ W_k
gusta_query = gusta_embed_pos @ W_q
gusta_key = gusta_embed_pos @ W_k
gusta_value = gusta_embed_pos @ W_k
estudiar_query = estudiar_embed_pos @ W_q
estudiar_key = estudiar_embed_pos @ W_k
estudiar_value = estudiar_embed_pos @ W_k
inteligencia_query = inteligencia_embed_pos @ W_q
inteligencia_key = inteligencia_embed_pos @ W_k
inteligencia_value = inteligencia_embed_pos @ W_k
artificial_query = artificial_embed_pos @ W_q
artificial_key = artificial_embed_pos @ W_k
artificial_value = artificial_embed_pos @ W_k

# %% stack_sentence
X = np.stack([
    me_embed_pos, gusta_embed_pos, estudiar_embed_pos, inteligencia_embed_pos, artificial_embed_pos
])
Q = X @ W_q
K = X @ W_k
V = X @ W_k

# %% [solution] *
