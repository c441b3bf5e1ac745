"""The softmax returns Python lists, made with sums over generators."""

# %% add_positions
me_embed_pos = me_ + pos_1
gusta_embed_pos = gusta_ + pos_2
estudiar_embed_pos = estudiar_ + pos_3
inteligencia_embed_pos = inteligencia_ + pos_4
artificial_embed_pos = artificial_ + pos_5

# %% project_words
me_query = np.dot(me_embed_pos, W_q)
me_key = np.dot(me_embed_pos, W_k)
me_value = np.dot(me_embed_pos, W_v)
gusta_query = np.dot(gusta_embed_pos, W_q)
gusta_key = np.dot(gusta_embed_pos, W_k)
gusta_value = np.dot(gusta_embed_pos, W_v)
estudiar_query = np.dot(estudiar_embed_pos, W_q)
estudiar_key = np.dot(estudiar_embed_pos, W_k)
estudiar_value = np.dot(estudiar_embed_pos, W_v)
inteligencia_query = np.dot(inteligencia_embed_pos, W_q)
inteligencia_key = np.dot(inteligencia_embed_pos, W_k)
inteligencia_value = np.dot(inteligencia_embed_pos, W_v)
artificial_query = np.dot(artificial_embed_pos, W_q)
artificial_key = np.dot(artificial_embed_pos, W_k)
artificial_value = np.dot(artificial_embed_pos, W_v)

# %% softmax
import math

def softmax(x):
    x = x.tolist()
    if not isinstance(x[0], list):
        m = max(x)
        total = sum(math.exp(v - m) for v in x)
        return [math.exp(v - m) / total for v in x]
    return [softmax(np.array(row)) for row in x]

# %% attend_me
key_list = [me_key, gusta_key, estudiar_key, inteligencia_key, artificial_key]
value_list = [me_value, gusta_value, estudiar_value, inteligencia_value, artificial_value]
me_alphas = softmax(np.array([np.dot(me_query, k) for k in key_list]))
me_attention = sum(a * v for a, v in zip(me_alphas, value_list))

# %% attend_gusta
gusta_alphas = softmax(np.array([np.dot(gusta_query, k) for k in key_list]))
gusta_attention = sum(a * v for a, v in zip(gusta_alphas, value_list))

# %% stack_sentence
X = [me_embed_pos, gusta_embed_pos, estudiar_embed_pos, inteligencia_embed_pos,
    artificial_embed_pos]
Q = [x @ W_q for x in X]
K = [x @ W_k for x in X]
V = [x @ W_v for x in X]

# %% attend_sentence
alphas = softmax(np.array([[q @ k for k in K] for q in Q]))
attn_scores = [sum(a * v for a, v in zip(row, V)) for row in alphas]

# %% [markdown] why_uniform_answer
# Because the softmax makes them sum to one.
