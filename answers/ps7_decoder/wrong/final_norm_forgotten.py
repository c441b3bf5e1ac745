"""No layer norm before the unembedding, neither in the full pass nor with the cache, which costs points once.

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
        X, _ = transformer_block(X, block, causal_mask(len(tokens)))
    return X @ model["unembedding"]


# %% decode_step
def decode_step(token, cache, model):
    x = model["embedding"][token] + model["positions"][cache[0]["keys"].shape[1]]
    grown = []
    for block, seen in zip(model["blocks"], cache):
        normed = layer_norm(x, block["gamma_1"], block["beta_1"])
        q, k, v = (normed @ block[name] for name in ("W_q", "W_k", "W_v"))
        keys = np.concatenate([seen["keys"], k[:, None]], axis=1)
        values = np.concatenate([seen["values"], v[:, None]], axis=1)
        weights = softmax(np.einsum("hk,hnk->hn", q, keys) / np.sqrt(q.shape[1]))
        x = x + np.einsum("hn,hnv,hvd->d", weights, values, block["W_o"])
        normed = layer_norm(x, block["gamma_2"], block["beta_2"])
        x = x + feed_forward(normed, block["W_1"], block["b_1"], block["W_2"], block["b_2"])
        grown.append({"keys": keys, "values": values})
    return x @ model["unembedding"], grown


# %% [solution] *
