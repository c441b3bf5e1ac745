"""The block never hands the mask to attention.

Loses:
    test_block: *
    test_block_parts: each half alone
    test_block_sizes: other sizes
Keeps:
    everything else
"""

# %% [solution] *

# %% transformer_block
def transformer_block(X, block, mask=None):
    attended, weights = multihead_attention(
        layer_norm(X, block["gamma_1"], block["beta_1"]), block["W_q"], block["W_k"], block["W_v"], block["W_o"])
    Z = X + attended
    fed = feed_forward(
        layer_norm(Z, block["gamma_2"], block["beta_2"]), block["W_1"], block["b_1"], block["W_2"], block["b_2"])
    return Z + fed, weights
