"""Both halves are added to the caller's X.

Loses:
    test_block_sizes: the arguments stay unchanged
Keeps:
    everything else
"""

# %% [solution] *

# %% transformer_block
def transformer_block(X, block, mask=None):
    attended, weights = multihead_attention(
        layer_norm(X, block["gamma_1"], block["beta_1"]), block["W_q"], block["W_k"], block["W_v"], block["W_o"], mask)
    X += attended
    Z = X
    fed = feed_forward(
        layer_norm(Z, block["gamma_2"], block["beta_2"]), block["W_1"], block["b_1"], block["W_2"], block["b_2"])
    Z += fed
    return Z, weights
