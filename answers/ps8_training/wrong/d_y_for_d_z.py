"""The last sum takes d_Y for d_Z, so what comes back through the feed-forward layer does not get to X.

Loses:
    test_transformer_block_backward: all gradients agree with finite differences
    test_transformer_block_backward: d_X for new random numbers, and arguments that stay as they are
    test_transformer_block_backward: other sizes and another number of heads
Keeps:
    everything else
"""

# %% transformer_block_backward
def transformer_block_backward(d_Y, X, block, parts):
    normal_1 = layer_norm(X, block["gamma_1"], block["beta_1"])
    Z = X + multihead_attention(normal_1, block["W_q"], block["W_k"], block["W_v"], block["W_o"])[0]
    normal_2 = layer_norm(Z, block["gamma_2"], block["beta_2"])
    d_block = {}
    d_normal_2, d_block["W_1"], d_block["b_1"], d_block["W_2"], d_block["b_2"] = parts["feed_forward"](
        d_Y, normal_2, block["W_1"], block["b_1"], block["W_2"], block["b_2"]
    )
    d_inner, d_block["gamma_2"], d_block["beta_2"] = parts["layer_norm"](
        d_normal_2, Z, block["gamma_2"], block["beta_2"]
    )
    d_Z = d_Y + d_inner
    d_normal_1, d_block["W_q"], d_block["W_k"], d_block["W_v"], d_block["W_o"] = parts["multihead_attention"](
        d_Z, normal_1, block["W_q"], block["W_k"], block["W_v"], block["W_o"]
    )
    d_inner, d_block["gamma_1"], d_block["beta_1"] = parts["layer_norm"](
        d_normal_1, X, block["gamma_1"], block["beta_1"]
    )
    return d_Y + d_inner, d_block

# %% [solution] *
