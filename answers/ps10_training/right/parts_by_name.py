"""Parts are called with the names of their arguments, as the table of the exercise gives them."""

# %% decoder_backward
def decoder_backward(d_logits, tokens, model, parts):
    inputs = [model["embedding"][tokens] + model["positions"][: len(tokens)]]
    for block in model["blocks"]:
        inputs.append(transformer_block(inputs[-1], block, np.tri(len(tokens), dtype=bool))[0])
    last = inputs.pop()
    found = {"unembedding": layer_norm(last, model["gamma"], model["beta"]).T @ d_logits, "blocks": []}
    d_X, found["gamma"], found["beta"] = parts["layer_norm"](
        d_Y=d_logits @ model["unembedding"].T, X=last, gamma=model["gamma"], beta=model["beta"]
    )
    for X, block in zip(reversed(inputs), reversed(model["blocks"])):
        d_X, d_block = parts["block"](d_X, block=block, X=X)
        found["blocks"].insert(0, d_block)
    sizes = {"vocabulary": len(model["embedding"]), "longest": len(model["positions"])}
    found["embedding"], found["positions"] = parts["embed"](d_X=d_X, tokens=tokens, **sizes)
    return found

# %% [solution] *
