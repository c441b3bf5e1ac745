"""Plain Python loops with sums, the softmax one row at a time."""

# %% add_positions
def add(a, b):
    out = np.zeros(len(a))
    for i in range(len(a)):
        out[i] = a[i] + b[i]
    return out

me_embed_pos = add(me_, pos_1)
gusta_embed_pos = add(gusta_, pos_2)
estudiar_embed_pos = add(estudiar_, pos_3)
inteligencia_embed_pos = add(inteligencia_, pos_4)
artificial_embed_pos = add(artificial_, pos_5)

# %% project_words
def project(x, W):
    out = []
    for j in range(W.shape[1]):
        total = 0
        for i in range(W.shape[0]):
            total += x[i] * W[i, j]
        out.append(total)
    return np.array(out)

me_query, me_key, me_value = [project(me_embed_pos, W) for W in (W_q, W_k, W_v)]
gusta_query, gusta_key, gusta_value = [project(gusta_embed_pos, W) for W in (W_q, W_k, W_v)]
estudiar_query, estudiar_key, estudiar_value = [project(estudiar_embed_pos, W) for W in (W_q, W_k,
    W_v)]
inteligencia_query, inteligencia_key, inteligencia_value = [
    project(inteligencia_embed_pos, W) for W in (W_q, W_k, W_v)]
artificial_query, artificial_key, artificial_value = [
    project(artificial_embed_pos, W) for W in (W_q, W_k, W_v)]

# %% softmax
def softmax(x):
    if x.ndim == 1:
        m = max(x)
        e = [np.exp(v - m) for v in x]
        s = sum(e)
        return np.array([v / s for v in e])
    result = np.zeros(x.shape)
    for r in range(x.shape[0]):
        result[r] = softmax(x[r])
    return result

# %% attend_me
keys = [me_key, gusta_key, estudiar_key, inteligencia_key, artificial_key]
values = [me_value, gusta_value, estudiar_value, inteligencia_value, artificial_value]
scores = np.zeros(5)
for n in range(5):
    scores[n] = sum(me_query * keys[n])
me_alphas = softmax(scores)
me_attention = np.zeros(3)
for n in range(5):
    me_attention += me_alphas[n] * values[n]
print(me_alphas, me_attention)

# %% attend_gusta
scores = np.zeros(5)
for n in range(5):
    scores[n] = sum(gusta_query * keys[n])
gusta_alphas = softmax(scores)
gusta_attention = np.zeros(3)
for n in range(5):
    gusta_attention += gusta_alphas[n] * values[n]

# %% stack_sentence
X = np.zeros((5, 4))
for i, vector in enumerate(
        [me_embed_pos, gusta_embed_pos, estudiar_embed_pos, inteligencia_embed_pos,
        artificial_embed_pos]):
    X[i] = vector
Q = np.zeros((5, 3)); K = np.zeros((5, 3)); V = np.zeros((5, 3))
for i in range(5):
    Q[i] = project(X[i], W_q)
    K[i] = project(X[i], W_k)
    V[i] = project(X[i], W_v)

# %% attend_sentence
S = np.zeros((5, 5))
for i in range(5):
    for j in range(5):
        S[i, j] = sum(Q[i] * K[j])
alphas = softmax(S)
attn_scores = np.zeros((5, 3))
for i in range(5):
    for j in range(5):
        attn_scores[i] += alphas[i, j] * V[j]

# %% [markdown] why_uniform_answer
# They are nearly uniform because the network is not trained, the weights are random.
# The outputs are nearly the same. Training would change W_q and W_k so that the score gets large.
