"""The softmax through the logarithm of the sum; word results in dictionaries, then unpacked."""

# %% add_positions
embeddings = dict(zip(words, (me_, gusta_, estudiar_, inteligencia_, artificial_)))
places = dict(zip(words, (pos_1, pos_2, pos_3, pos_4, pos_5)))
inputs = {w: embeddings[w] + places[w] for w in words}
(
    me_embed_pos, gusta_embed_pos, estudiar_embed_pos, inteligencia_embed_pos, artificial_embed_pos
) = inputs.values()

# %% project_words
queries = {w: inputs[w] @ W_q for w in words}
keys = {w: inputs[w] @ W_k for w in words}
values = {w: inputs[w] @ W_v for w in words}
for w in words:
    globals()[w + "_query"] = queries[w]
    globals()[w + "_key"] = keys[w]
    globals()[w + "_value"] = values[w]

# %% softmax
def softmax(x, axis=-1):
    m = x.max(axis=axis, keepdims=True)
    log_sum = m + np.log(np.exp(x - m).sum(axis=axis, keepdims=True))
    return np.exp(x - log_sum)

# %% attend_me
def attend(w):
    weights = softmax(np.array([queries[w] @ keys[other] for other in words]))
    return weights, np.sum([a * values[other] for a, other in zip(weights, words)], axis=0)

me_alphas, me_attention = attend("me")

# %% attend_gusta
gusta_alphas, gusta_attention = attend("gusta")

# %% stack_sentence
X = np.vstack(list(inputs.values()))
Q = np.vstack(list(queries.values()))
K = np.vstack(list(keys.values()))
V = np.vstack(list(values.values()))

# %% attend_sentence
alphas = softmax(Q @ K.T, axis=1)
attn_scores = alphas @ V

# %% [markdown] why_uniform_answer
# Nobody has told W_q and W_k what to look for: they are random with a standard deviation of 0.1. A
# query has a length of about 0.1 to 0.5,
# a key too, so a score is about 0.05 and the weights 0.2 +- 0.02. The outputs are copies of the
# mean value.
# gusta would need a score with estudiar that beats the rest by about 3.6; a gradient step moves
# W_q and W_k (and the embeddings).
