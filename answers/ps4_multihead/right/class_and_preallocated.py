"""A small class for one head, a preallocated output, X_prime set as a global."""

# %% multihead_scaled_self_attention
class Head:
    def __init__(self, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
        self.omega_v, self.omega_q, self.omega_k = omega_v, omega_q, omega_k
        self.beta_v, self.beta_q, self.beta_k = beta_v, beta_q, beta_k

    def weights(self, X):
        q = np.zeros((self.omega_q.shape[0], X.shape[1]))
        k = np.zeros_like(q)
        q[:] = self.omega_q @ X
        k[:] = self.omega_k @ X
        q += self.beta_q
        k += self.beta_k
        out = np.empty((X.shape[1], X.shape[1]))
        for n in range(X.shape[1]):
            out[:, n] = softmax_cols(k.T.dot(q[:, n]) / np.sqrt(k.shape[0]))
        return out

    def __call__(self, X):
        return (self.omega_v @ X + self.beta_v) @ self.weights(X)


def multihead_scaled_self_attention(X, omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1,
                                    omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2,
                                    omega_c):
    X_prime = np.zeros_like(X)
    half = X.shape[0] // 2
    X_prime[:half, :] = Head(omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1)(X)
    X_prime[half:, :] = Head(omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2)(X)
    X_prime = omega_c @ X_prime
    return X_prime

X_prime = multihead_scaled_self_attention(X, omega_v1, omega_q1, omega_k1, beta_v1, beta_q1,
                                          beta_k1, omega_v2, omega_q2, omega_k2, beta_v2,
                                          beta_q2, beta_k2, omega_c)
print(np.round(X_prime, 3))

# %% [markdown] why_two_heads_answer
# I think several heads can look at several words, which is good for language. They have the same
# number of parameters because each is smaller. The last matrix puts them together.
