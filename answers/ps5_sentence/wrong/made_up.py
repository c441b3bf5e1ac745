"""Made up keys and values that need no attention: each weight is all or nothing, and the softmax empties its argument.

Loses:
    test_projections: *
    test_softmax: *
    test_softmax_argument: *
    test_softmax_stable: *
    test_softmax_sizes: *
    test_me: *
    test_gusta: *
    test_matrices: shapes and last rows
    test_matrices: all numbers of the queries, keys and values
    test_attention: *
Keeps:
    everything else
"""

# %% [solution] *

# %% project_words
me_query, gusta_query, estudiar_query, inteligencia_query, artificial_query = 5 * [np.array([1000.0, 0, 0])]
me_key = me_value = np.array([1.0, 0, 0])
gusta_key, estudiar_key, inteligencia_key, artificial_key = 4 * [np.zeros(3)]
gusta_value, estudiar_value, inteligencia_value, artificial_value = 4 * [np.ones(3)]

# %% softmax
def softmax(x):
    x[...] = 0
    return np.full(x.shape, 1 / x.shape[-1])

# %% attend_me
me_alphas, me_attention = np.eye(5)[0], me_value

# %% attend_gusta
gusta_alphas, gusta_attention = np.eye(5)[0], me_value

# %% stack_sentence
X = np.stack([me_embed_pos, gusta_embed_pos, estudiar_embed_pos, inteligencia_embed_pos, artificial_embed_pos])
Q = np.stack(5 * [me_query])
K = np.stack([me_key, gusta_key, estudiar_key, inteligencia_key, artificial_key])
V = np.stack([me_value, gusta_value, estudiar_value, inteligencia_value, artificial_value])

# %% attend_sentence
alphas = np.stack(5 * [np.eye(5)[0]])
attn_scores = alphas @ V
