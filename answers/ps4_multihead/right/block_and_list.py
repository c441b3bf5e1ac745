"""A list of heads joined by np.block; the result is returned as a list of lists."""

# %% multihead_scaled_self_attention
def multihead_scaled_self_attention(X, *p):
    *heads, omega_c = p
    outs = []
    while heads:
        ov, oq, ok, bv, bq, bk = heads[:6]
        heads = heads[6:]
        scores = np.tensordot(ok @ X + bk, oq @ X + bq, axes=(0, 0)) / np.sqrt(oq.shape[0])
        outs.append([np.dot(np.add(np.dot(ov, X), bv), softmax_cols(scores))])
    return np.dot(omega_c, np.block(outs)).tolist()

# %% [markdown] why_two_heads_answer
# Costs: equal (3DD and NND). Attention: one query, H different maps. Mixing: omega_c.
