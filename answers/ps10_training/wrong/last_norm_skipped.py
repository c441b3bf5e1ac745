"""The gradient goes from the logits to the last block, past the layer norm; the unembedding gets what was not normalised.

Loses:
    test_decoder_backward: *
Keeps:
    everything else
"""

# %% decoder_backward
def decoder_backward(d_logits, tokens, model, parts):
    inputs = [model["embedding"][tokens] + model["positions"][: len(tokens)]]
    for block in model["blocks"]:
        inputs.append(transformer_block(inputs[-1], block, np.tri(len(tokens), dtype=bool))[0])
    d_X = d_logits @ model["unembedding"].T
    _, d_gamma, d_beta = parts["layer_norm"](d_logits @ model["unembedding"].T, d_X, model["gamma"], model["beta"])
    d_blocks = []
    for X, block in zip(inputs[-2::-1], model["blocks"][::-1]):
        d_X, d_block = parts["block"](d_X, X, block)
        d_blocks.insert(0, d_block)
    d_embedding, d_positions = parts["embed"](d_X, tokens, len(model["embedding"]), len(model["positions"]))
    return {"embedding": d_embedding, "positions": d_positions, "blocks": d_blocks, "gamma": d_gamma,
            "beta": d_beta, "unembedding": inputs[-1].T @ d_logits}

# %% [solution] *
