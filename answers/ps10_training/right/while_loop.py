"""The batches wait on a stack until none is left; states are made when their first gradient comes; back by recursion."""

# %% train
def train(parameters, batches, loss_and_gradients, step):
    current, states, curve, waiting = dict(parameters), {}, [], list(batches)[::-1]
    while waiting:
        value, slopes = loss_and_gradients(dict(current), waiting.pop())
        curve.append(value)
        for key in current:
            if key not in states:
                states[key] = adam_start(current[key])
            current[key], states[key] = step(current[key], slopes[key], states[key])
    return current, curve

# %% decoder_backward
def decoder_backward(d_logits, tokens, model, parts):
    mask = np.tri(len(tokens), dtype=bool)
    start = np.take(model["embedding"], tokens, axis=0) + model["positions"][range(len(tokens))]
    result = {}

    def through(X, blocks):
        if not blocks:
            result["unembedding"] = np.einsum("nd,nv->dv", layer_norm(X, model["gamma"], model["beta"]), d_logits)
            upstream = np.einsum("nv,dv->nd", d_logits, model["unembedding"])
            d_X, result["gamma"], result["beta"] = parts["layer_norm"](upstream, X, model["gamma"], model["beta"])
            return d_X, []
        first, *rest = blocks
        above, later = through(transformer_block(X, first, mask)[0], rest)
        d_X, own = parts["block"](above, X, first)
        return d_X, [own, *later]

    d_start, result["blocks"] = through(start, list(model["blocks"]))
    sizes = len(model["embedding"]), len(model["positions"])
    result["embedding"], result["positions"] = parts["embed"](d_start, tokens, *sizes)
    return result

# %% [solution] *
