"""One helper with the scale as an argument; both functions call it with their arguments packed."""

# %% self_attention
def attend(scale, X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q, K, V = (beta + omega @ X for omega, beta in
               ((omega_q, beta_q), (omega_k, beta_k), (omega_v, beta_v)))
    A = softmax_cols((K / scale).T @ Q)
    return V @ A, A


def self_attention(*arguments):
    return attend(1, *arguments)

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(*arguments):
    D_q, D = arguments[2].shape
    return attend(np.sqrt(D_q), *arguments)

# %% [markdown] why_equivariant_answer
# The map stays equivariant only as a function of X + E: if I permute inputs together with their
# encodings, the outputs are permuted. As a function of X alone it is not, since the encodings stay
# where they are and x_n meets another e. Without E there is nothing in (1)-(6) which knows the
# place n of an input.
