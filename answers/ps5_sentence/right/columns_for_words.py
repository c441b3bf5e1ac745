"""Single words as columns (W.T @ x), vectors of shape (n, 1); the sentence as rows."""

# %% add_positions
me_embed_pos = me_[:, None] + pos_1[:, None]
gusta_embed_pos = gusta_[:, None] + pos_2[:, None]
estudiar_embed_pos = estudiar_[:, None] + pos_3[:, None]
inteligencia_embed_pos = inteligencia_[:, None] + pos_4[:, None]
artificial_embed_pos = artificial_[:, None] + pos_5[:, None]

# %% project_words
me_query = W_q.T @ me_embed_pos
me_key = W_k.T @ me_embed_pos
me_value = W_v.T @ me_embed_pos
gusta_query = W_q.T @ gusta_embed_pos
gusta_key = W_k.T @ gusta_embed_pos
gusta_value = W_v.T @ gusta_embed_pos
estudiar_query = W_q.T @ estudiar_embed_pos
estudiar_key = W_k.T @ estudiar_embed_pos
estudiar_value = W_v.T @ estudiar_embed_pos
inteligencia_query = W_q.T @ inteligencia_embed_pos
inteligencia_key = W_k.T @ inteligencia_embed_pos
inteligencia_value = W_v.T @ inteligencia_embed_pos
artificial_query = W_q.T @ artificial_embed_pos
artificial_key = W_k.T @ artificial_embed_pos
artificial_value = W_v.T @ artificial_embed_pos

# %% softmax
def softmax(x):
    def one(row):
        e = np.exp(row - np.max(row))
        return e / np.sum(e)
    return np.apply_along_axis(one, -1, x)

# %% attend_me
ks = [me_key, gusta_key, estudiar_key, inteligencia_key, artificial_key]
vs = [me_value, gusta_value, estudiar_value, inteligencia_value, artificial_value]
me_scores = np.array([(me_query.T @ k).item() for k in ks])
me_alphas = softmax(me_scores)
me_attention = np.hstack(vs) @ me_alphas[:, None]

# %% attend_gusta
gusta_scores = np.array([(gusta_query.T @ k).item() for k in ks])
gusta_alphas = softmax(gusta_scores)
gusta_attention = np.hstack(vs) @ gusta_alphas[:, None]

# %% stack_sentence
X = np.hstack([me_embed_pos, gusta_embed_pos, estudiar_embed_pos, inteligencia_embed_pos,
    artificial_embed_pos]).T
Q, K, V = (X @ W for W in (W_q, W_k, W_v))

# %% attend_sentence
alphas = softmax(Q @ np.transpose(K))
attn_scores = np.matmul(alphas, V)
print("done")

# %% [markdown] why_uniform_answer
# Small weights give small scores, and e^0 = 1 for all, 1/5 each. Then everyone gets the mean of
# the values. To give estudiar 0.9, its
# score must be much higher than the four others; training has to change W_q and W_k.
