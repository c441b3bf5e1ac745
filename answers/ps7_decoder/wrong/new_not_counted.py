"""The multiplications of one new position are counted, however many are new.

Loses:
    test_count: models of other sizes
Keeps:
    everything else
"""

# %% multiplications
def multiplications(new, length, model):
    d_model, vocabulary = model["unembedding"].shape
    total = d_model * vocabulary
    for block in model["blocks"]:
        H, _, d_k = block["W_q"].shape
        d_v = block["W_v"].shape[2]
        total += H * (d_model * (2 * d_k + d_v) + length * (d_k + d_v) + d_v * d_model)
        total += 2 * block["W_1"].size
    return total

# %% [solution] *
