"""The bias is spread by a row of ones as in the equations; np.matmul and math.sqrt."""

# %% self_attention
import math

def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    N = X.shape[1]
    ones = np.ones((1, N))
    # queries keys values
    Q = np.matmul(beta_q, ones) + np.matmul(omega_q, X)
    K = np.matmul(beta_k, ones) + np.matmul(omega_k, X)
    V = np.matmul(beta_v, ones) + np.matmul(omega_v, X)
    scores = np.matmul(np.transpose(K), Q)
    attentions = softmax_cols(scores)
    X_prime = np.matmul(V, attentions)
    return X_prime, attentions

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    N = X.shape[1]
    ones = np.ones((1, N))
    Q = np.matmul(beta_q, ones) + np.matmul(omega_q, X)
    K = np.matmul(beta_k, ones) + np.matmul(omega_k, X)
    V = np.matmul(beta_v, ones) + np.matmul(omega_v, X)
    D_q = len(beta_q)
    scores = np.matmul(np.transpose(K), Q) / math.sqrt(D_q)
    attentions = softmax_cols(scores)
    X_prime = np.matmul(V, attentions)
    return X_prime, attentions

# %% [markdown] why_equivariant_answer
# No. Positional encodings are different for every position, so when you change the order the sum
# of input and encoding is different and the output is different. Without them only the vectors
# matter and not the position.
