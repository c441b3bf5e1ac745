"""The key bias is left out on purpose: it adds one number to a whole column of scores."""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    # beta_k adds beta_k . q_n to every score of column n, and the softmax does not see it.
    attentions = softmax_cols((omega_k @ X).T @ (omega_q @ X + beta_q))
    # The weights of a column sum to one, so the bias of the values can be added at the end.
    return omega_v @ X @ attentions + beta_v, attentions

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    scores = (omega_k @ X).T @ (omega_q @ X + beta_q)
    attentions = softmax_cols(scores / np.sqrt(omega_k.shape[0]))
    return omega_v @ X @ attentions + beta_v, attentions

# %% [markdown] why_equivariant_answer
# Before: x'_n = sum over m of v_m softmax(k_m . q_n). Nothing depends on n or m but through x_n
# and x_m, so permuting the x permutes the x'. After: x_n is replaced by x_n + e_n, where e_n does
# depend on n. When x_1 moves to place 2 it is x_1 + e_2, a new vector, and all weights on it
# change. So no. That is wanted: otherwise a text would be a bag of words.
