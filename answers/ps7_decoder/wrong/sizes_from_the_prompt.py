"""The mask and the positions are as long as the given prompt.

Loses:
    test_logits: *
Keeps:
    everything else
"""


# %% decoder_logits
def decoder_logits(tokens, model):
    X = model["embedding"][tokens] + model["positions"][: len(prompt)]
    for block in model["blocks"]:
        X, _ = transformer_block(X, block, causal_mask(len(prompt)))
    return layer_norm(X, model["gamma"], model["beta"]) @ model["unembedding"]


# %% [solution] *
