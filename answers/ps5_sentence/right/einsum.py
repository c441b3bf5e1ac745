"""einsum for the whole sentence, tensordot for single words."""

# %% add_positions
me_embed_pos = me_ + pos_1
gusta_embed_pos = gusta_ + pos_2
estudiar_embed_pos = estudiar_ + pos_3
inteligencia_embed_pos = inteligencia_ + pos_4
artificial_embed_pos = artificial_ + pos_5

# %% project_words
me_query = np.einsum("d,dk->k", me_embed_pos, W_q)
me_key = np.einsum("d,dk->k", me_embed_pos, W_k)
me_value = np.einsum("d,dk->k", me_embed_pos, W_v)
gusta_query = np.einsum("d,dk->k", gusta_embed_pos, W_q)
gusta_key = np.einsum("d,dk->k", gusta_embed_pos, W_k)
gusta_value = np.einsum("d,dk->k", gusta_embed_pos, W_v)
estudiar_query = np.einsum("d,dk->k", estudiar_embed_pos, W_q)
estudiar_key = np.einsum("d,dk->k", estudiar_embed_pos, W_k)
estudiar_value = np.einsum("d,dk->k", estudiar_embed_pos, W_v)
inteligencia_query = np.einsum("d,dk->k", inteligencia_embed_pos, W_q)
inteligencia_key = np.einsum("d,dk->k", inteligencia_embed_pos, W_k)
inteligencia_value = np.einsum("d,dk->k", inteligencia_embed_pos, W_v)
artificial_query = np.einsum("d,dk->k", artificial_embed_pos, W_q)
artificial_key = np.einsum("d,dk->k", artificial_embed_pos, W_k)
artificial_value = np.einsum("d,dk->k", artificial_embed_pos, W_v)

# %% softmax
def softmax(scores):
    top = np.amax(scores, axis=-1)[..., None]
    z = np.exp(scores - top)
    return np.einsum("...j,...->...j", z, 1 / z.sum(-1))

# %% attend_me
K_rows = np.array([me_key, gusta_key, estudiar_key, inteligencia_key, artificial_key])
V_rows = np.array([me_value, gusta_value, estudiar_value, inteligencia_value, artificial_value])
me_alphas = softmax(np.tensordot(K_rows, me_query, axes=1))
me_attention = np.tensordot(me_alphas, V_rows, axes=([0], [0]))

# %% attend_gusta
gusta_alphas = softmax(np.einsum("jk,k->j", K_rows, gusta_query))
gusta_attention = np.einsum("j,jv->v", gusta_alphas, V_rows)

# %% stack_sentence
X = np.array([me_embed_pos, gusta_embed_pos, estudiar_embed_pos, inteligencia_embed_pos,
    artificial_embed_pos])
Q = np.einsum("nd,dk->nk", X, W_q)
K = np.einsum("nd,dk->nk", X, W_k)
V = np.einsum("nd,dk->nk", X, W_v)

# %% attend_sentence
alphas = softmax(np.einsum("ik,jk->ij", Q, K))
attn_scores = np.einsum("ij,jv->iv", alphas, V)

# %% [markdown] why_uniform_answer
# 1. All entries of QK^T are between -0.15 and 0.03. The softmax sees only differences of scores;
# exp(s) is roughly 1 + s, so each
# weight is roughly 1/5. The scores are small since W_q and W_k are of size 0.1 and both enter each
# score.
# 2. Each row of attn_scores is about the mean of the rows of V, they differ in the third decimal
# only.
# 3. exp(s_estudiar - s_other) = 36, a difference of 3.6. Gradient descent would have to change
# W_q, W_k and the
# embeddings, so that q_gusta and k_estudiar are long and parallel. W_v plays no part in it.
