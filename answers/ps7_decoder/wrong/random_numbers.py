"""Logits, losses and probabilities are random numbers, others at every call.

Loses:
    test_logits: *
    test_cross_entropy: *
    test_probabilities: *
    test_cache: *
Keeps:
    everything else
"""

# %% [solution] *

# %% decoder_logits
def decoder_logits(tokens, model):
    return np.random.default_rng().random((len(tokens), 7))

# %% cross_entropy
def cross_entropy(logits, targets):
    return np.random.default_rng().random()

# %% next_probabilities
def next_probabilities(logits, temperature=1.0, top_k=None):
    return np.random.default_rng().random(len(logits))

# %% decode_step
def decode_step(token, cache, model):
    return np.random.default_rng().random(7), cache
