"""The gradients of the blocks are returned in the order in which they were computed.

Loses:
    test_decoder_backward: the blocks, from the last to the first
    test_decoder_backward: other sizes, and arguments that stay as they were
Keeps:
    everything else
"""

# %% decoder_backward
def decoder_backward(d_logits, tokens, model, parts):
    inputs = [model["embedding"][tokens] + model["positions"][: len(tokens)]]
    for block in model["blocks"]:
        inputs.append(transformer_block(inputs[-1], block, np.tri(len(tokens), dtype=bool))[0])
    normal = layer_norm(inputs[-1], model["gamma"], model["beta"])
    d_X, d_gamma, d_beta = parts["layer_norm"](
        d_logits @ model["unembedding"].T, inputs[-1], model["gamma"], model["beta"]
    )
    d_blocks = []
    for X, block in zip(inputs[-2::-1], model["blocks"][::-1]):
        d_X, d_block = parts["block"](d_X, X, block)
        d_blocks.append(d_block)
    d_embedding, d_positions = parts["embed"](d_X, tokens, len(model["embedding"]), len(model["positions"]))
    return {"embedding": d_embedding, "positions": d_positions, "blocks": d_blocks, "gamma": d_gamma,
            "beta": d_beta, "unembedding": normal.T @ d_logits}

# %% [solution] *
