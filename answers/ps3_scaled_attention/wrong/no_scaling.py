"""The second function is a copy of the first, without the division.

Loses:
    test_scaled_attention: the given example
    test_scaled_attention: new random numbers of the given sizes: attentions
    test_scaled_attention: new random numbers of the given sizes: X_prime
    test_scaled_attention_sizes: other sizes
Keeps:
    everything else
"""

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    attentions = softmax_cols(K.T @ Q)
    return V @ attentions, attentions

# %% [markdown] why_equivariant_answer
# It is equivariant because of the softmax. With positional encodings it is still equivariant
# because the encodings are only added.

# %% [solution] *
