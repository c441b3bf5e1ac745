"""New arrays are changed in place; the blocks' gradients are collected from the end and turned round."""

# %% running_means
def running_means(gradient, state, beta_1=0.9, beta_2=0.999):
    new = {"t": state["t"] + 1, "m": np.array(state["m"]), "v": np.array(state["v"])}
    new["m"] *= beta_1
    new["m"] += (1 - beta_1) * gradient
    new["v"] *= beta_2
    new["v"] += (1 - beta_2) * gradient * gradient
    return new

# %% direction
def direction(state, beta_1=0.9, beta_2=0.999, eps=1e-8):
    result = state["m"] / (1 - beta_1 ** state["t"])
    result /= np.sqrt(state["v"] / (1 - beta_2 ** state["t"])) + eps
    return result

# %% decoder_backward
def decoder_backward(d_logits, tokens, model, parts):
    X = model["embedding"][tokens] + model["positions"][: len(tokens)]
    steps = []
    for block in model["blocks"]:
        steps.append((X, block))
        X, _ = transformer_block(X, block, np.tri(len(tokens), dtype=bool))
    U = model["unembedding"]
    d_U = np.dot(layer_norm(X, model["gamma"], model["beta"]).T, d_logits)
    back, d_gamma, d_beta = parts["layer_norm"](np.inner(d_logits, U), X, model["gamma"], model["beta"])
    found = []
    while steps:
        back, one = parts["block"](back, *steps.pop())
        found.append(one)
    d_E, d_P = parts["embed"](back, tokens, model["embedding"].shape[0], model["positions"].shape[0])
    return dict(embedding=d_E, positions=d_P, blocks=found[::-1], gamma=d_gamma, beta=d_beta, unembedding=d_U)

# %% [solution] *
