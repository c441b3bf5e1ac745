"""The parts that are handed over are not called.

Loses:
    test_decoder_backward: gamma and beta
    test_decoder_backward: the blocks, from the last to the first
    test_decoder_backward: embedding and positions
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
    d_X, d_gamma, d_beta = layer_norm_backward(
        d_logits @ model["unembedding"].T, inputs[-1], model["gamma"], model["beta"]
    )
    d_blocks = []
    for X, block in zip(inputs[-2::-1], model["blocks"][::-1]):
        d_X, d_block = block_backward(d_X, X, block)
        d_blocks.insert(0, d_block)
    d_embedding, d_positions = embed_backward(d_X, tokens, len(model["embedding"]), len(model["positions"]))
    return {"embedding": d_embedding, "positions": d_positions, "blocks": d_blocks, "gamma": d_gamma,
            "beta": d_beta, "unembedding": normal.T @ d_logits}

# %% [solution] *
