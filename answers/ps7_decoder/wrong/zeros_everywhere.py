"""Each function returns zeros of the right shape.

Loses:
    everything
"""


# %% decoder_logits
def decoder_logits(tokens, model):
    return np.zeros((len(tokens), model['unembedding'].shape[1]))


# %% cross_entropy
def cross_entropy(logits, targets):
    return 0.0


# %% next_probabilities
def next_probabilities(logits, temperature=1.0, top_k=None):
    return np.zeros(len(logits))


# %% draw
def draw(probabilities, u):
    return 0


# %% generate
def generate(tokens, logits_of, pick, count):
    return (len(tokens) + count) * [0]


# %% decode_step
def decode_step(token, cache, model):
    grown = [
        {name: np.concatenate([part[name], np.zeros_like(part[name][:, :1])], axis=1) for name in part} for part in cache
    ]
    return np.zeros(model['unembedding'].shape[1]), grown


# %% multiplications
def multiplications(new, length, model):
    return 0


# %% online_update
def online_update(state, scores, values):
    return 0.0, 0.0, np.zeros(values.shape[1])
