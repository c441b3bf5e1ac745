"""Plain loops over queries, keys and rows; no large matrix product anywhere."""

# %% multihead_scaled_self_attention
def multihead_scaled_self_attention(X, omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1,
                                    omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2,
                                    omega_c):
    N = X.shape[1]
    D = X.shape[0]
    hd = omega_q1.shape[0]
    stacked = np.zeros((2 * hd, N))
    params = [(omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1),
              (omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2)]
    for h in range(2):
        ov, oq, ok, bv, bq, bk = params[h]
        for n in range(N):
            q = oq @ X[:, [n]] + bq
            dots = []
            for m in range(N):
                k = ok @ X[:, [m]] + bk
                dots.append((k.T @ q)[0, 0] / np.sqrt(hd))
            biggest = max(dots)
            e = [np.exp(d - biggest) for d in dots]
            for m in range(N):
                v = ov @ X[:, [m]] + bv
                stacked[h * hd:(h + 1) * hd, [n]] += e[m] / sum(e) * v
    X_prime = np.zeros((D, N))
    for i in range(D):
        for n in range(N):
            for j in range(2 * hd):
                X_prime[i, n] += omega_c[i, j] * stacked[j, n]
    return X_prime

# %% [markdown] why_two_heads_answer
# Same cost! 3*H*(D/H)*D = 3*D*D numbers and H*N*N*(D/H) = N*N*D multiplications. The gain is that
# heads can look at different things: e.g. input 4 looks at 1 in one head and 3 in the other. The
# matrix at the end mixes the heads so the next layer doesn't get them in separate drawers.
