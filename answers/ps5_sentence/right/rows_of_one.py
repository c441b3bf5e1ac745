"""Every vector is a 1 x n matrix; softmax along axis 1 of a two-dimensional copy."""

# %% add_positions
me_embed_pos = (me_ + pos_1).reshape(1, 4)
gusta_embed_pos = (gusta_ + pos_2).reshape(1, 4)
estudiar_embed_pos = (estudiar_ + pos_3).reshape(1, 4)
inteligencia_embed_pos = (inteligencia_ + pos_4).reshape(1, 4)
artificial_embed_pos = (artificial_ + pos_5).reshape(1, 4)

# %% project_words
me_query = np.matmul(me_embed_pos, W_q)
me_key = np.matmul(me_embed_pos, W_k)
me_value = np.matmul(me_embed_pos, W_v)
gusta_query = np.matmul(gusta_embed_pos, W_q)
gusta_key = np.matmul(gusta_embed_pos, W_k)
gusta_value = np.matmul(gusta_embed_pos, W_v)
estudiar_query = np.matmul(estudiar_embed_pos, W_q)
estudiar_key = np.matmul(estudiar_embed_pos, W_k)
estudiar_value = np.matmul(estudiar_embed_pos, W_v)
inteligencia_query = np.matmul(inteligencia_embed_pos, W_q)
inteligencia_key = np.matmul(inteligencia_embed_pos, W_k)
inteligencia_value = np.matmul(inteligencia_embed_pos, W_v)
artificial_query = np.matmul(artificial_embed_pos, W_q)
artificial_key = np.matmul(artificial_embed_pos, W_k)
artificial_value = np.matmul(artificial_embed_pos, W_v)

# %% softmax
def softmax(x):
    x = np.atleast_2d(x)
    biggest = x.max(axis=1, keepdims=True)
    e = np.exp(x - biggest)
    return e / e.sum(axis=1, keepdims=True)

# %% attend_me
all_keys = np.vstack([me_key, gusta_key, estudiar_key, inteligencia_key, artificial_key])
all_values = np.vstack([me_value, gusta_value, estudiar_value, inteligencia_value,
    artificial_value])
me_scores = me_query @ all_keys.T
print(me_scores.shape)
me_alphas = softmax(me_scores)
me_attention = me_alphas @ all_values

# %% attend_gusta
gusta_alphas = softmax(gusta_query @ all_keys.T)
gusta_attention = gusta_alphas @ all_values

# %% stack_sentence
X = np.concatenate((me_embed_pos, gusta_embed_pos, estudiar_embed_pos, inteligencia_embed_pos,
    artificial_embed_pos), axis=0)
Q, K, V = X @ W_q, X @ W_k, X @ W_v

# %% attend_sentence
alphas = softmax(Q @ K.T)
attn_scores = alphas @ V

# %% [markdown] why_uniform_answer
# The scores are all small (about -0.1) because W_q and W_k were multiplied by 0.1, so exp of them
# is about 1 and
# the softmax gives about 1/5 each. So every output is nearly the average of the values and the
# rows look the same.
# For 0.9 the score of estudiar has to be about 3.6 above the others (exp(3.6) = 36 = 0.9/0.025).
# Training has to
# change W_q and W_k until the query of gusta points along the key of estudiar.
