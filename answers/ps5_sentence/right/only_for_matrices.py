"""The softmax asks for axis 1, so it takes matrices only; the scores of a word come as 1 x 5."""

# %% [solution] add_positions

# %% [solution] project_words

# %% softmax
def softmax(x):
    maximum = np.max(x, axis=1, keepdims=True)
    e_x = np.exp(x - maximum)
    return e_x / np.sum(e_x, axis=1, keepdims=True)

# %% attend_me
keys = np.vstack((me_key, gusta_key, estudiar_key, inteligencia_key, artificial_key))
values = np.vstack((me_value, gusta_value, estudiar_value, inteligencia_value, artificial_value))
me_scores = np.array([[
    np.dot(me_query, me_key), np.dot(me_query, gusta_key), np.dot(me_query, estudiar_key),
    np.dot(me_query, inteligencia_key), np.dot(me_query, artificial_key)
]])
me_alphas = softmax(me_scores)
me_attention = np.dot(me_alphas, values)

# %% attend_gusta
gusta_scores = gusta_query.reshape(1, -1) @ keys.T
gusta_alphas = softmax(gusta_scores)[0]
gusta_attention = gusta_alphas @ values

# %% [solution] stack_sentence

# %% [solution] attend_sentence

# %% [markdown] why_uniform_answer
# The softmax turns differences of scores into ratios of weights. Here the scores in Q @ K.T differ
# by less than 0.15, because W_q and W_k were made with the factor 0.1 and both are in every score.
# The rows of attn_scores are then all close to the mean of the values.
# estudiar would need a score about 3.6 above the other four, and training would have to change
# W_q and W_k for that.
