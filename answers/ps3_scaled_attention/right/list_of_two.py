"""Returns a list, renames the arguments, prints inside, and has its own softmax without maximum."""

# %% self_attention
def self_attention(data, Wv, Wq, Wk, bv, bq, bk):
    D, N = data.shape
    Q = Wq @ data + bq
    K = Wk @ data + bk
    V = Wv @ data + bv
    print("Q", Q.shape, "K", K.shape, "V", V.shape)
    dot_products = K.T @ Q
    print(dot_products)
    att = np.exp(dot_products) / np.sum(np.exp(dot_products), axis=0)
    out = V @ att
    return [out, att]

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(data, Wv, Wq, Wk, bv, bq, bk):
    D, N = data.shape
    Q = Wq @ data + bq
    K = Wk @ data + bk
    V = Wv @ data + bv
    Dq = K.shape[0]
    dot_products = (K.T @ Q) / np.sqrt(Dq)
    att = np.exp(dot_products) / np.sum(np.exp(dot_products), axis=0)
    out = V @ att
    return [out, att]

# %% [markdown] why_equivariant_answer
# Without encodings: yes, we see it in the example, the columns are just in another order.
# With encodings: no, because each position has its own vector added.
