"""Leaves the bias of the keys out: right, because it cannot change the result.

It adds the same number to all scores of a query, that is to a whole column, and the softmax of a
column does not change when a number is added to all of its entries.
"""

# %% multihead_scaled_self_attention
def multihead_scaled_self_attention(X, omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1,
                                    omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2,
                                    omega_c):
    # beta_k adds beta_k.T @ q to every score of query q: the softmax does not notice
    Q1, Q2 = beta_q1 + omega_q1 @ X, beta_q2 + omega_q2 @ X
    V1, V2 = beta_v1 + omega_v1 @ X, beta_v2 + omega_v2 @ X
    A1 = softmax_cols((omega_k1 @ X).T @ Q1 / np.sqrt(Q1.shape[0]))
    A2 = softmax_cols((omega_k2 @ X).T @ Q2 / np.sqrt(Q2.shape[0]))
    return omega_c @ np.r_[V1 @ A1, V2 @ A2]

# %% [markdown] why_two_heads_answer
# Parameters 3D^2 in both cases, score multiplications N^2 D in both cases. Each head yields an
# own convex combination: for x_2 all of x_6 in head 1 and 94 % of x_2 in head 2. The single head
# gives one combination only. Omega_c lets features from different heads interact in each row;
# without it head h is confined to rows (h-1)D/H+1 to hD/H.
