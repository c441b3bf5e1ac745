"""The normalised rows are added, not those that came in.

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
    X = layer_norm(X, block["gamma_1"], block["beta_1"])
    attended, weights = multihead_attention(X, block["W_q"], block["W_k"], block["W_v"], block["W_o"], mask)
    X = layer_norm(X + attended, block["gamma_2"], block["beta_2"])
    return X + feed_forward(X, block["W_1"], block["b_1"], block["W_2"], block["b_2"]), weights
