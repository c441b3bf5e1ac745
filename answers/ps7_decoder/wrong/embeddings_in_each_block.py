"""Each block starts from the embeddings again, so the last one alone counts.

Loses:
    test_logits: the logits of a small model
    test_logits: new models and tokens
    test_logits: other sizes, among them a single token
Keeps:
    everything else
"""


# %% decoder_logits
def decoder_logits(tokens, model):
    X = model["embedding"][tokens] + model["positions"][: len(tokens)]
    for block in model["blocks"]:
        Y, _ = transformer_block(X, block, causal_mask(len(tokens)))
    return layer_norm(Y, model["gamma"], model["beta"]) @ model["unembedding"]


# %% [solution] *
