"""Values are taken to be as long as keys.

Loses:
    test_count: *
Keeps:
    everything else
"""


# %% multiplications
def multiplications(new, length, model):
    d_model, vocabulary = model["unembedding"].shape
    total = new * d_model * vocabulary
    for block in model["blocks"]:
        H, d_v, _ = block["W_o"].shape
        d_k, d_ff = block["W_k"].shape[2], block["W_1"].shape[1]
        projections = d_model * 3 * d_k
        total += new * H * (projections + length * 2 * d_k + d_k * d_model)
        total += new * 2 * d_model * d_ff
    return total


# %% [solution] *
