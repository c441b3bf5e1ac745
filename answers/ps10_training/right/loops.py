"""Single numbers, one after the other, and rows by loops."""

# %% running_means
def running_means(gradient, state, beta_1=0.9, beta_2=0.999):
    m, v = np.zeros(np.shape(gradient)), np.zeros(np.shape(gradient))
    for place in np.ndindex(m.shape):
        m[place] = beta_1 * state["m"][place] + (1 - beta_1) * gradient[place]
        v[place] = beta_2 * state["v"][place] + (1 - beta_2) * gradient[place] ** 2
    return {"t": state["t"] + 1, "m": m, "v": v}

# %% direction
def direction(state, beta_1=0.9, beta_2=0.999, eps=1e-8):
    result = np.zeros(np.shape(state["m"]))
    for place in np.ndindex(result.shape):
        m_hat = state["m"][place] / (1 - beta_1 ** state["t"])
        v_hat = state["v"][place] / (1 - beta_2 ** state["t"])
        result[place] = m_hat / (v_hat**0.5 + eps)
    return result

# %% embed_backward
def embed_backward(d_X, tokens, vocabulary, longest):
    d_embedding = np.zeros((vocabulary, d_X.shape[1]))
    d_positions = np.zeros((longest, d_X.shape[1]))
    for i, token in enumerate(tokens):
        d_embedding[token] += d_X[i]
        d_positions[i] += d_X[i]
    return d_embedding, d_positions

# %% decoder_backward
def decoder_backward(d_logits, tokens, model, parts):
    inputs = [model["embedding"][tokens] + model["positions"][: len(tokens)]]
    for block in model["blocks"]:
        inputs.append(transformer_block(inputs[-1], block, np.tri(len(tokens), dtype=bool))[0])
    normal = layer_norm(inputs[-1], model["gamma"], model["beta"])
    gradients = {"blocks": [None] * len(model["blocks"])}
    gradients["unembedding"] = sum(np.outer(row, d_row) for row, d_row in zip(normal, d_logits))
    d_normal = np.array([model["unembedding"] @ d_row for d_row in d_logits])
    d_X, gradients["gamma"], gradients["beta"] = parts["layer_norm"](
        d_normal, inputs[-1], model["gamma"], model["beta"]
    )
    for place in reversed(range(len(model["blocks"]))):
        d_X, gradients["blocks"][place] = parts["block"](d_X, inputs[place], model["blocks"][place])
    gradients["embedding"], gradients["positions"] = parts["embed"](
        d_X, tokens, len(model["embedding"]), len(model["positions"])
    )
    return gradients

# %% [solution] *
