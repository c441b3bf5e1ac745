"""Everything is zero, in the right shape.

Loses:
    everything
"""

# %% linear_backward
def linear_backward(d_Y, X, W, b):
    return 0 * X, 0 * W, 0 * b

# %% relu_backward
def relu_backward(d_H, B):
    return 0 * B

# %% feed_forward_backward
def feed_forward_backward(d_Y, X, W_1, b_1, W_2, b_2, parts):
    return 0 * X, 0 * W_1, 0 * b_1, 0 * W_2, 0 * b_2

# %% layer_norm_backward
def layer_norm_backward(d_Y, X, gamma, beta, eps=1e-5):
    return 0 * X, 0 * gamma, 0 * beta

# %% softmax_backward
def softmax_backward(d_A, S):
    return np.zeros(S.shape)

# %% mixing_backward
def mixing_backward(d_Y, A, V):
    return 0 * A, 0 * V

# %% scores_backward
def scores_backward(d_S, Q, K):
    return 0 * Q, 0 * K

# %% attention_backward
def attention_backward(d_Y, Q, K, V, mask, parts):
    return 0 * Q, 0 * K, 0 * V

# %% projections_backward
def projections_backward(d_Q, d_K, d_V, X, W_q, W_k, W_v):
    return 0 * X, 0 * W_q, 0 * W_k, 0 * W_v

# %% transformer_block_backward
def transformer_block_backward(d_Y, X, block, mask, parts):
    return 0 * X, {name: 0 * array for name, array in block.items()}
