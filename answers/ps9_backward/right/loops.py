"""The sums of the chain rule are loops, most of them over single numbers."""

# %% linear_backward
def linear_backward(d_Y, X, W, b):
    N, d_in = X.shape
    d_out = W.shape[1]
    d_X, d_W, d_b = np.zeros((N, d_in)), np.zeros((d_in, d_out)), np.zeros(d_out)
    for n in range(N):
        for i in range(d_in):
            d_X[n, i] = sum(d_Y[n] * W[i])
            d_W[i] += X[n, i] * d_Y[n]
        for j in range(d_out):
            d_b[j] += d_Y[n, j]
    return d_X, d_W, d_b


# %% layer_norm_backward
def layer_norm_backward(d_Y, X, gamma, beta, eps=1e-5):
    N, n = X.shape
    d_X, d_gamma, d_beta = np.zeros((N, n)), np.zeros(n), np.zeros(n)
    for row in range(N):
        mu = sum(X[row]) / n
        s = (sum((x - mu) ** 2 for x in X[row]) / n + eps) ** 0.5
        x_hat = [(x - mu) / s for x in X[row]]
        for j in range(n):
            d_gamma[j] += d_Y[row, j] * x_hat[j]
            d_beta[j] += d_Y[row, j]
            for i in range(n):
                d_X[row, i] += d_Y[row, j] * gamma[j] * ((i == j) - 1 / n - x_hat[i] * x_hat[j] / n) / s
    return d_X, d_gamma, d_beta


# %% softmax_backward
def softmax_backward(d_A, S):
    d_S = np.zeros(S.shape)
    for row, a in enumerate(softmax(S)):
        for i in range(len(a)):
            for j in range(len(a)):
                d_S[row, i] += d_A[row, j] * a[j] * ((i == j) - a[i])
    return d_S


# %% projections_backward
def projections_backward(d_Q, d_K, d_V, X, W_q, W_k, W_v):
    d_X = np.zeros(X.shape)
    d_weights = []
    for d_out, W in ((d_Q, W_q), (d_K, W_k), (d_V, W_v)):
        d_W = np.zeros(W.shape)
        for n in range(len(X)):
            for i in range(W.shape[0]):
                d_X[n, i] += sum(d_out[n] * W[i])
                d_W[i] += X[n, i] * d_out[n]
        d_weights.append(d_W)
    return d_X, d_weights[0], d_weights[1], d_weights[2]

# %% relu_backward
def relu_backward(d_H, B):
    d_B = np.zeros(B.shape)
    for place in np.ndindex(B.shape):
        if B[place] > 0:
            d_B[place] = d_H[place]
    return d_B


# %% mixing_backward
def mixing_backward(d_Y, A, V):
    N = len(A)
    d_A, d_V = np.zeros((N, N)), np.zeros(V.shape)
    for i in range(N):
        for j in range(N):
            d_A[i, j] = sum(d_Y[i] * V[j])
            d_V[j] += A[i, j] * d_Y[i]
    return d_A, d_V


# %% scores_backward
def scores_backward(d_S, Q, K):
    d_Q, d_K = np.zeros(Q.shape), np.zeros(K.shape)
    for i in range(len(Q)):
        for j in range(len(K)):
            d_Q[i] += d_S[i, j] * K[j] / Q.shape[1] ** 0.5
            d_K[j] += d_S[i, j] * Q[i] / Q.shape[1] ** 0.5
    return d_Q, d_K


# %% [solution] *
