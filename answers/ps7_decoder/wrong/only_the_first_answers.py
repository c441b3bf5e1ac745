"""The first three exercises are solved, the others left as released.

Loses:
    test_draw: *
    test_generate: *
    test_cache: *
    test_count: *
    test_online: *
Keeps:
    everything else
"""


# %% decoder_logits
def decoder_logits(tokens, model):
    X = model["embedding"][tokens] + model["positions"][: len(tokens)]
    for block in model["blocks"]:
        X, _ = transformer_block(X, block, causal_mask(len(tokens)))
    return layer_norm(X, model["gamma"], model["beta"]) @ model["unembedding"]


# %% cross_entropy
def cross_entropy(logits, targets):
    highest = np.max(logits, axis=1)
    log_sums = highest + np.log(np.sum(np.exp(logits - highest[:, None]), axis=1))
    return np.mean(log_sums - logits[np.arange(len(targets)), targets])


# %% next_probabilities
def next_probabilities(logits, temperature=1.0, top_k=None):
    scaled = logits / temperature
    if top_k is not None:
        scaled = np.where(scaled >= np.sort(scaled)[-top_k], scaled, -np.inf)
    return softmax(scaled)
