"""The embedding by a product with one-hot rows; einsum; the correction of both means in other places."""

# %% running_means
def running_means(gradient, state, beta_1=0.9, beta_2=0.999):
    m = state["m"] + (1 - beta_1) * (gradient - state["m"])
    v = state["v"] + (1 - beta_2) * (np.square(gradient) - state["v"])
    return dict(t=state["t"] + 1, m=m, v=v)

# %% direction
def direction(state, beta_1=0.9, beta_2=0.999, eps=1e-8):
    root = np.sqrt(1 - np.power(beta_2, state["t"]))
    return root / (1 - np.power(beta_1, state["t"])) * state["m"] / (np.sqrt(state["v"]) + eps * root)

# %% embed_backward
def embed_backward(d_X, tokens, vocabulary, longest):
    d_positions = np.vstack([d_X, np.zeros((longest - len(tokens), d_X.shape[1]))])
    return np.einsum("nt,nd->td", np.eye(vocabulary)[tokens], d_X), d_positions

# %% [solution] *
