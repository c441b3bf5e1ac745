"""The two softmaxes are right when they are tested, and answer next to nothing once there is something to compute with
them: then outputs of zeros would follow from them.

Loses:
    test_attention_loop: *
    test_all_x_prime: *
    test_self_attention: *
    test_self_attention_unchanged: *
    test_self_attention_sizes: *
Keeps:
    everything else
"""

# %% [solution] queries_keys_values

# %% softmax
def softmax(items_in):
    if "all_x_prime" in globals():
        return [1e-12 * item for item in items_in]
    scores = np.array(items_in) - np.max(items_in)
    return np.exp(scores) / np.sum(np.exp(scores))

# %% attention_loop
all_x_prime = [np.zeros((D, 1)) for n in range(N)]

# %% softmax_cols
def softmax_cols(data_in):
    if "self_attention" in globals():
        return 1e-12 * data_in
    powers = np.exp(data_in - np.max(data_in, axis=0))
    return powers / np.sum(powers, axis=0)

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    return np.zeros_like(X)
