"""Everything in single precision."""

# %% add_positions
me_embed_pos = me_.astype(np.float32) + pos_1.astype(np.float32)
gusta_embed_pos = gusta_.astype(np.float32) + pos_2.astype(np.float32)
estudiar_embed_pos = estudiar_.astype(np.float32) + pos_3.astype(np.float32)
inteligencia_embed_pos = inteligencia_.astype(np.float32) + pos_4.astype(np.float32)
artificial_embed_pos = artificial_.astype(np.float32) + pos_5.astype(np.float32)

# %% project_words
wq = W_q.astype("float32")
wk = W_k.astype("float32")
wv = W_v.astype("float32")
me_query = me_embed_pos @ wq
me_key = me_embed_pos @ wk
me_value = me_embed_pos @ wv
gusta_query = gusta_embed_pos @ wq
gusta_key = gusta_embed_pos @ wk
gusta_value = gusta_embed_pos @ wv
estudiar_query = estudiar_embed_pos @ wq
estudiar_key = estudiar_embed_pos @ wk
estudiar_value = estudiar_embed_pos @ wv
inteligencia_query = inteligencia_embed_pos @ wq
inteligencia_key = inteligencia_embed_pos @ wk
inteligencia_value = inteligencia_embed_pos @ wv
artificial_query = artificial_embed_pos @ wq
artificial_key = artificial_embed_pos @ wk
artificial_value = artificial_embed_pos @ wv

# %% softmax
def softmax(x):
    x = np.asarray(x, dtype=np.float32)
    x = x - x.max(axis=-1, keepdims=True)
    x = np.exp(x)
    return x / x.sum(axis=-1, keepdims=True)

# %% [solution] attend_me

# %% [solution] attend_gusta

# %% stack_sentence
X = np.stack([me_embed_pos, gusta_embed_pos, estudiar_embed_pos, inteligencia_embed_pos,
    artificial_embed_pos]).astype(np.float32)
Q = X @ wq
K = X @ wk
V = X @ wv
print(X.dtype, Q.dtype)

# %% [solution] attend_sentence

# %% [markdown] why_uniform_answer
# Scores are tiny, so softmax is flat. All outputs are the average. Train W_q and W_k to make the
# right scores bigger than the others.
