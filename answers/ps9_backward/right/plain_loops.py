"""Every sum of the chain rule is a loop over single numbers, those of the matrix products too."""

# %% linear_backward
def linear_backward(d_Y, X, W, b):
    N, d_in = X.shape
    d_out = W.shape[1]
    d_X, d_W, d_b = np.zeros((N, d_in)), np.zeros((d_in, d_out)), np.zeros(d_out)
    for n in range(N):
        for i in range(d_in):
            for j in range(d_out):
                d_X[n, i] += d_Y[n, j] * W[i, j]
                d_W[i, j] += d_Y[n, j] * X[n, i]
        for j in range(d_out):
            d_b[j] += d_Y[n, j]
    return d_X, d_W, d_b


# %% relu_backward
def relu_backward(d_H, B):
    d_B = np.zeros(B.shape)
    for n in range(B.shape[0]):
        for i in range(B.shape[1]):
            if B[n, i] > 0:
                d_B[n, i] = d_H[n, i]
    return d_B


# %% layer_norm_backward
def layer_norm_backward(d_Y, X, gamma, beta, eps=1e-5):
    N, n = X.shape
    d_X, d_gamma, d_beta = np.zeros((N, n)), np.zeros(n), np.zeros(n)
    for row in range(N):
        mu = 0.0
        for i in range(n):
            mu += X[row, i] / n
        variance = 0.0
        for i in range(n):
            variance += (X[row, i] - mu) ** 2 / n
        s = (variance + eps) ** 0.5
        for i in range(n):
            x_hat_i = (X[row, i] - mu) / s
            d_gamma[i] += d_Y[row, i] * x_hat_i
            d_beta[i] += d_Y[row, i]
            for j in range(n):
                x_hat_j = (X[row, j] - mu) / s
                d_X[row, i] += d_Y[row, j] * gamma[j] * ((i == j) - 1 / n - x_hat_i * x_hat_j / n) / s
    return d_X, d_gamma, d_beta


# %% softmax_backward
def softmax_backward(d_A, S):
    d_S = np.zeros(S.shape)
    for row in range(S.shape[0]):
        a = softmax(S[row])
        for i in range(S.shape[1]):
            for j in range(S.shape[1]):
                d_S[row, i] += d_A[row, j] * a[j] * ((i == j) - a[i])
    return d_S


# %% mixing_backward
def mixing_backward(d_Y, A, V):
    N, d_v = V.shape
    d_A, d_V = np.zeros((N, N)), np.zeros((N, d_v))
    for i in range(N):
        for j in range(N):
            for k in range(d_v):
                d_A[i, j] += d_Y[i, k] * V[j, k]
                d_V[j, k] += A[i, j] * d_Y[i, k]
    return d_A, d_V


# %% scores_backward
def scores_backward(d_S, Q, K):
    N, d_k = Q.shape
    d_Q, d_K = np.zeros((N, d_k)), np.zeros((N, d_k))
    for i in range(N):
        for j in range(N):
            for k in range(d_k):
                d_Q[i, k] += d_S[i, j] * K[j, k] / d_k ** 0.5
                d_K[j, k] += d_S[i, j] * Q[i, k] / d_k ** 0.5
    return d_Q, d_K


# %% projections_backward
def projections_backward(d_Q, d_K, d_V, X, W_q, W_k, W_v):
    d_X, d_weights = np.zeros(X.shape), []
    for d_out, W in ((d_Q, W_q), (d_K, W_k), (d_V, W_v)):
        d_W = np.zeros(W.shape)
        for n in range(X.shape[0]):
            for i in range(W.shape[0]):
                for j in range(W.shape[1]):
                    d_X[n, i] += d_out[n, j] * W[i, j]
                    d_W[i, j] += X[n, i] * d_out[n, j]
        d_weights.append(d_W)
    return d_X, d_weights[0], d_weights[1], d_weights[2]


# %% [solution] *
