"""The given model is used in place of the argument.

Loses:
    test_logits: *
Keeps:
    everything else
"""


# %% decoder_logits
def decoder_logits(tokens, m):
    X = model["embedding"][tokens] + model["positions"][: len(tokens)]
    for block in model["blocks"]:
        X, _ = transformer_block(X, block, causal_mask(len(tokens)))
    return layer_norm(X, model["gamma"], model["beta"]) @ model["unembedding"]


# %% [solution] *
