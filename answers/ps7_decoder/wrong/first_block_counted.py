"""Only the first block is counted.

Loses:
    test_count: models of other sizes
Keeps:
    everything else
"""


# %% multiplications
def multiplications(new, length, model):
    d_model, vocabulary = model["unembedding"].shape
    total = new * d_model * vocabulary
    for block in model["blocks"][:1]:
        H, d_v, _ = block["W_o"].shape
        d_k, d_ff = block["W_k"].shape[2], block["W_1"].shape[1]
        projections = d_model * (2 * d_k + d_v)
        total += new * H * (projections + length * (d_k + d_v) + d_v * d_model)
        total += new * 2 * d_model * d_ff
    return total


# %% [solution] *
