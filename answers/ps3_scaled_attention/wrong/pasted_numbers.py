"""The numbers of the visible checks are returned, whatever the arguments are.

Loses:
    everything else
Keeps:
    test_self_attention: a pair of real arrays, X_prime D_v x N and attentions N x N
    test_self_attention: each column of attentions sums to one
    test_self_attention: the given example
    test_scaled_attention: a pair of real arrays, X_prime D_v x N and attentions N x N
    test_scaled_attention: each column of attentions sums to one
    test_scaled_attention: the given example
"""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    X_prime = np.array([[0.94744244, 1.64201168, 1.61949281],
                        [-0.24348429, -0.08470004, -0.06641533],
                        [-0.91310441, 4.02764044, 3.96863308],
                        [-0.44522983, 2.18690791, 2.15858316]])
    attentions = np.array([[0, 0, 0.005057], [0.998281, 0.005855, 0.006548], [0.001719, 0.994145, 0.988395]])
    return X_prime, attentions

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    X_prime = np.array([[0.97411966, 1.59622051, 1.32638014],
                        [-0.23738409, -0.09516106, 0.13062402],
                        [-0.72333202, 3.70194096, 3.02371664],
                        [-0.34413007, 2.01339538, 1.6902419]])
    attentions = np.array([[0, 0.000002, 0.062042], [0.960162, 0.071273, 0.070596], [0.039838, 0.928725, 0.867362]])
    return X_prime, attentions
