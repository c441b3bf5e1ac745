"""Everything with np.einsum, also the dot products of the loop, which are 0-d arrays."""

# %% queries_keys_values
all_queries, all_keys, all_values = [], [], []
for x in all_x:
    all_queries.append(np.einsum("ij,jk->ik", omega_q, x) + beta_q)
    all_keys.append(np.einsum("ij,jk->ik", omega_k, x) + beta_k)
    all_values.append(np.einsum("ij,jk->ik", omega_v, x) + beta_v)

# %% softmax
def softmax(items_in):
    z = np.asarray(items_in)
    z = z - z.max()
    return np.exp(z) / np.exp(z).sum()

# %% attention_loop
all_x_prime = []
stacked_values = np.stack(all_values)
for n in range(N):
    all_dot_products = []
    for key in all_keys:
        dot_product = np.einsum("ik,ik->", key, all_queries[n])
        all_dot_products.append(dot_product)
    attention = softmax(all_dot_products)
    x_prime = np.einsum("m,mik->ik", attention, stacked_values)
    all_x_prime.append(x_prime)

# %% softmax_cols
def softmax_cols(data_in):
    e = np.exp(data_in - np.amax(data_in, axis=0))
    return np.einsum("mn,n->mn", e, 1 / np.einsum("mn->n", e))

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    q, k, v = (
        np.einsum("ij,jn->in", omega, X) + beta
        for omega, beta in ((omega_q, beta_q), (omega_k, beta_k), (omega_v, beta_v))
    )
    attention = softmax_cols(np.einsum("im,in->mn", k, q))
    return np.einsum("im,mn->in", v, attention)

# %% [markdown] cost_answer
# a) (K^T Q)_mn = sum_i K_im Q_in = k_m . q_n = s_mn. The sum over m in (6) is the contracted index of V A.
#
# b) A contraction costs the product of the sizes of all its indices. (i) ijn three times: 3 D^2 N. (ii) imn: D N^2.
# (iii) imn: D N^2. Loop and matrices are the same contraction, so the same number.
#
# c) x2, x4, x4. N > 3D/2.
