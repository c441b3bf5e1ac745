"""Works on rows inside: X.T, a row softmax of its own without the maximum, then turns back."""

# %% multihead_scaled_self_attention
def row_softmax(scores):
    e = np.exp(scores)
    return e / e.sum(axis=1).reshape(-1, 1)

def multihead_scaled_self_attention(x, wv1, wq1, wk1, bv1, bq1, bk1,
                                    wv2, wq2, wk2, bv2, bq2, bk2, wc):
    rows = x.T
    def attend(wv, wq, wk, bv, bq, bk):
        q, k, v = rows @ wq.T + bq.T, rows @ wk.T + bk.T, rows @ wv.T + bv.T
        return row_softmax(q @ k.T / q.shape[1] ** 0.5) @ v
    heads = np.hstack([attend(wv1, wq1, wk1, bv1, bq1, bk1),
                       attend(wv2, wq2, wk2, bv2, bq2, bk2)])
    return (heads @ wc.T).T

# %% [markdown] why_two_heads_answer
# 3 D^2 parameters and N^2 D multiplications for both variants. Several heads allow several
# patterns (x_2 to x_6, and x_2 to x_2) where one head must blend them. Omega_c recombines.
