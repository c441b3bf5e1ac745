"""The last sum takes d_Y for d_Z, so what comes back through the feed-forward layer does not get to X.

Loses:
    test_transformer_block_backward: d_X through the residual connections
    test_transformer_block_backward: d_X
    test_transformer_block_backward: other sizes, and arguments that stay as they were
Keeps:
    everything else
"""

# %% transformer_block_backward
def transformer_block_backward(d_Y, X, block, mask, parts):
    normal_1 = layer_norm(X, block["gamma_1"], block["beta_1"])
    Z = X + multihead_attention(normal_1, block["W_q"], block["W_k"], block["W_v"], block["W_o"], mask)
    normal_2 = layer_norm(Z, block["gamma_2"], block["beta_2"])
    d_normal_2, *last = parts["feed_forward"](d_Y, normal_2, *(block[name] for name in NAMES[8:]))
    d_inner, *norm_2 = parts["layer_norm"](d_normal_2, Z, block["gamma_2"], block["beta_2"])
    d_Z = d_Y + d_inner
    d_normal_1, *first = parts["multihead_attention"](d_Z, normal_1, *(block[name] for name in NAMES[2:6]), mask)
    d_inner, *norm_1 = parts["layer_norm"](d_normal_1, X, block["gamma_1"], block["beta_1"])
    return d_Y + d_inner, dict(zip(NAMES, [*norm_1, *first, *norm_2, *last]))

# %% [solution] *
