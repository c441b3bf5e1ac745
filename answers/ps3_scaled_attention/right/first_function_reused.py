"""The second function calls the first one, with the query map divided by the root."""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    def project(omega, beta):
        return beta + omega @ X

    attentions = softmax_cols(project(omega_k, beta_k).T @ project(omega_q, beta_q))
    return project(omega_v, beta_v) @ attentions, attentions

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    # dividing every query by sqrt(D_q) divides every score by it
    scale = np.sqrt(omega_q.shape[0])
    return self_attention(X, omega_v, omega_q / scale, omega_k, beta_v, beta_q / scale, beta_k)

# %% [markdown] why_equivariant_answer
# 1. Column n of X' is sum_m A_mn v_m. v_m, k_m and q_n are computed from x_m and x_n alone, with
# the same parameters everywhere, and the index itself is never used. Renaming the indices
# renames the outputs, and the sum over m (also in the softmax) has the same terms in another
# order.
#
# 2. No. Now q_n comes from x_n + e_n, which uses the index n. An input that moves keeps x but
# changes e. The output for the sentence then depends on the order of the words, which is needed
# for language.
