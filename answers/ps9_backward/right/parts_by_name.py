"""Parts are called with the names of their arguments, as the tables of the exercises give them."""

# %% feed_forward_backward
def feed_forward_backward(d_Y, X, W_1, b_1, W_2, b_2, parts):
    B = linear(X, W_1, b_1)
    d_H, d_W_2, d_b_2 = parts["linear"](d_Y=d_Y, X=relu(B), W=W_2, b=b_2)
    d_X, d_W_1, d_b_1 = parts["linear"](parts["relu"](B=B, d_H=d_H), X, W=W_1, b=b_1)
    return d_X, d_W_1, d_b_1, d_W_2, d_b_2


# %% attention_backward
def attention_backward(d_Y, Q, K, V, mask, parts):
    S = scores(Q, K, mask)
    d_A, d_V = parts["mixing"](d_Y=d_Y, A=softmax(S), V=V)
    d_Q, d_K = parts["scores"](parts["softmax"](d_A=d_A, S=S), K=K, Q=Q)
    return d_Q, d_K, d_V

# %% [solution] *
