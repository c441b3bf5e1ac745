"""The positions are added to the model's embedding in place.

Loses:
    test_logits: the arguments stay as they were
Keeps:
    everything else
"""


# %% decoder_logits
def decoder_logits(tokens, model):
    X = model["embedding"][tokens]
    X += model["positions"][: len(tokens)]
    for block in model["blocks"]:
        X, _ = transformer_block(X, block, causal_mask(len(tokens)))
    model["unembedding"] *= 1
    model["gamma"] += 1e-9
    return layer_norm(X, model["gamma"], model["beta"]) @ model["unembedding"]


# %% [solution] *
