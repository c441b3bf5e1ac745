"""Everything is zero, in the right shape.

Loses:
    test_cross_entropy_backward: *
    test_linear_backward: *
    test_feed_forward_backward: *
    test_layer_norm_backward: *
    test_softmax_backward: *
    test_attention_backward: *
    test_projections_backward: *
    test_transformer_block_backward: *
    test_adam_step: *
    test_train: *
Keeps:
    everything else
"""

# %% cross_entropy_backward
def cross_entropy_backward(d_loss, logits, targets):
    return np.zeros(logits.shape)

# %% linear_backward
def linear_backward(d_Y, X, W, b):
    return 0 * X, 0 * W, 0 * b

# %% feed_forward_backward
def feed_forward_backward(d_Y, X, W_1, b_1, W_2, b_2):
    return 0 * X, 0 * W_1, 0 * b_1, 0 * W_2, 0 * b_2

# %% layer_norm_backward
def layer_norm_backward(d_Y, X, gamma, beta, eps=1e-5):
    return 0 * X, 0 * gamma, 0 * beta

# %% softmax_backward
def softmax_backward(d_A, S):
    return 0 * S

# %% attention_backward
def attention_backward(d_Y, Q, K, V):
    return 0 * Q, 0 * K, 0 * V

# %% projections_backward
def projections_backward(d_Q, d_K, d_V, X, W_q, W_k, W_v):
    return 0 * X, 0 * W_q, 0 * W_k, 0 * W_v

# %% transformer_block_backward
def transformer_block_backward(d_Y, X, block, parts):
    return 0 * X, {name: 0 * array for name, array in block.items()}

# %% adam_step
def adam_step(parameter, gradient, state, rate=0.01, beta_1=0.9, beta_2=0.999, eps=1e-8):
    return 0 * parameter, state

# %% train
def train(parameters, batches, loss_and_gradients, step):
    return {name: 0 * array for name, array in parameters.items()}, [0.0 for _ in batches]
