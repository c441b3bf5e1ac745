"""The sums are normalised, as in the transformer of 2017.

Loses:
    test_block: *
    test_block_parts: *
    test_block_sizes: other sizes
Keeps:
    everything else
"""

# %% [solution] *

# %% transformer_block
def transformer_block(X, block, mask=None):
    attended, weights = multihead_attention(X, block["W_q"], block["W_k"], block["W_v"], block["W_o"], mask)
    Z = layer_norm(X + attended, block["gamma_1"], block["beta_1"])
    fed = feed_forward(Z, block["W_1"], block["b_1"], block["W_2"], block["b_2"])
    return layer_norm(Z + fed, block["gamma_2"], block["beta_2"]), weights
