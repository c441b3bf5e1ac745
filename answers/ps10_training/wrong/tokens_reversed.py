"""The part for embedding and positions gets the tokens from the last to the first.

Loses:
    test_decoder_backward: embedding and positions
    test_decoder_backward: other sizes, and arguments that stay as they were
"""

# %% decoder_backward
def decoder_backward(d_logits, tokens, model, parts):
    """The gradients of all arrays of a decoder, in a dictionary of the form of the model."""
    # The forward pass once more, equation (1): the input of each block, and at the end the output of the last.
    inputs = [model["embedding"][tokens] + model["positions"][: len(tokens)]]
    for block in model["blocks"]:
        inputs.append(transformer_block(inputs[-1], block, np.tri(len(tokens), dtype=bool))[0])
    normal = layer_norm(inputs[-1], model["gamma"], model["beta"])
    # Now backwards: the unembedding, the layer norm, the blocks from the last to the first, embedding and positions.
    d_X, d_gamma, d_beta = parts["layer_norm"](
        d_logits @ model["unembedding"].T, inputs[-1], model["gamma"], model["beta"]
    )
    d_blocks = []
    for X, block in zip(inputs[-2::-1], model["blocks"][::-1]):
        d_X, d_block = parts["block"](d_X, X, block)
        d_blocks.insert(0, d_block)
    d_embedding, d_positions = parts["embed"](d_X, tokens[::-1], len(model["embedding"]), len(model["positions"]))
    return {
        "embedding": d_embedding, "positions": d_positions, "blocks": d_blocks,
        "gamma": d_gamma, "beta": d_beta, "unembedding": normal.T @ d_logits,
    }

# %% [solution] *
