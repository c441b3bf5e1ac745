"""Attention always gets the causal mask, whatever the mask in the arguments is.

Loses:
    test_transformer_block_backward: the attention half
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
    weights = [block[name] for name in NAMES[2:6]]
    d_normal_1, *first = parts["multihead_attention"](d_Z, normal_1, *weights, causal_mask(len(X)))
    d_inner, *norm_1 = parts["layer_norm"](d_normal_1, X, block["gamma_1"], block["beta_1"])
    return d_Z + d_inner, dict(zip(NAMES, [*norm_1, *first, *norm_2, *last]))

# %% [solution] *
