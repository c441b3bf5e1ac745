"""dot methods; the softmax divides the columns of the transpose; the embeddings are changed in
place."""

# %% add_positions
me_ += pos_1
gusta_ += pos_2
estudiar_ += pos_3
inteligencia_ += pos_4
artificial_ += pos_5
me_embed_pos, gusta_embed_pos, estudiar_embed_pos = me_, gusta_, estudiar_
inteligencia_embed_pos, artificial_embed_pos = inteligencia_, artificial_

# %% project_words
me_query = me_embed_pos.dot(W_q)
me_key = me_embed_pos.dot(W_k)
me_value = me_embed_pos.dot(W_v)
gusta_query = gusta_embed_pos.dot(W_q)
gusta_key = gusta_embed_pos.dot(W_k)
gusta_value = gusta_embed_pos.dot(W_v)
estudiar_query = estudiar_embed_pos.dot(W_q)
estudiar_key = estudiar_embed_pos.dot(W_k)
estudiar_value = estudiar_embed_pos.dot(W_v)
inteligencia_query = inteligencia_embed_pos.dot(W_q)
inteligencia_key = inteligencia_embed_pos.dot(W_k)
inteligencia_value = inteligencia_embed_pos.dot(W_v)
artificial_query = artificial_embed_pos.dot(W_q)
artificial_key = artificial_embed_pos.dot(W_k)
artificial_value = artificial_embed_pos.dot(W_v)

# %% softmax
def softmax(x):
    y = x.copy()
    y = (y.T - y.max(axis=-1)).T
    np.exp(y, out=y)
    return (y.T / y.sum(axis=-1)).T

# %% attend_me
np.random.seed(0)
noise = np.random.randn(3)  # to see how a random vector would do
kk = np.column_stack([me_key, gusta_key, estudiar_key, inteligencia_key, artificial_key])  # 3 x 5
vv = np.column_stack([me_value, gusta_value, estudiar_value, inteligencia_value, artificial_value])
me_alphas = softmax(me_query.dot(kk))
me_attention = vv.dot(me_alphas)

# %% attend_gusta
gusta_alphas = softmax(gusta_query.dot(kk))
gusta_attention = vv.dot(gusta_alphas)

# %% stack_sentence
X = np.column_stack([me_embed_pos, gusta_embed_pos, estudiar_embed_pos, inteligencia_embed_pos,
    artificial_embed_pos]).transpose()
Q = X.dot(W_q)
K = X.dot(W_k)
V = X.dot(W_v)

# %% attend_sentence
alphas = softmax(K.dot(Q.T).T)
attn_scores = V.T.dot(alphas.T).T

# %% [markdown] why_uniform_answer
# The scores (QK^T) differ by 0.15 at most, since W_q and W_k are 0.1 times normal numbers. The
# difference of two scores gives the ratio
# of their weights, and exp(0.15) is only 1.16. So each output is more or less the mean of V. For
# 0.9 the score of estudiar has
# to be ln(36) larger, training changes W_q and W_k (by gradients).
