"""Every product is an einsum."""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    q = np.einsum("id,dn->in", omega_q, X) + beta_q
    k = np.einsum("id,dn->in", omega_k, X) + beta_k
    v = np.einsum("id,dn->in", omega_v, X) + beta_v
    a = softmax_cols(np.einsum("im,in->mn", k, q))
    return np.einsum("im,mn->in", v, a), a

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    q = np.einsum("id,dn->in", omega_q, X) + beta_q
    k = np.einsum("id,dn->in", omega_k, X) + beta_k
    v = np.einsum("id,dn->in", omega_v, X) + beta_v
    a = softmax_cols(np.einsum("im,in->mn", k, q) * q.shape[0] ** -0.5)
    return np.einsum("im,mn->in", v, a), a

# %% [markdown] why_equivariant_answer
# Let P be a permutation matrix. f(XP): Q -> QP, K -> KP, V -> VP because 1^T P = 1^T. The scores
# become P^T K^T Q P, the column softmax commutes with both permutations, so A -> P^T A P and
# X' -> V P P^T A P = X'P. Hence f(XP) = f(X)P.
#
# With E we get f(XP + E), and XP + E is not (X + E)P in general. So it is not equivariant in X
# (it still is in X + E, if the encodings are moved along with the inputs). The model can now tell
# "dog bites man" from "man bites dog".
