"""The cache keeps all rows, but a token looks at the last four only.

Loses:
    test_cache: equal to the full pass at every position
    test_cache: a cache that somebody else has filled
"""

# %% decode_step
def decode_step(token, cache, model):
    x = model["embedding"][token] + model["positions"][cache[0]["keys"].shape[1]]
    grown = []
    for block, seen in zip(model["blocks"], cache):
        normed = layer_norm(x, block["gamma_1"], block["beta_1"])
        q, k, v = (normed @ block[name] for name in ("W_q", "W_k", "W_v"))
        keys = np.concatenate([seen["keys"], k[:, None]], axis=1)
        values = np.concatenate([seen["values"], v[:, None]], axis=1)
        weights = softmax(np.einsum("hk,hnk->hn", q, keys[:, -4:]) / np.sqrt(q.shape[1]))
        x = x + np.einsum("hn,hnv,hvd->d", weights, values[:, -4:], block["W_o"])
        normed = layer_norm(x, block["gamma_2"], block["beta_2"])
        x = x + feed_forward(normed, block["W_1"], block["b_1"], block["W_2"], block["b_2"])
        grown.append({"keys": keys, "values": values})
    return layer_norm(x, model["gamma"], model["beta"]) @ model["unembedding"], grown

# %% [solution] *
