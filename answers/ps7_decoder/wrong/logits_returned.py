"""The logits are taken for the probabilities, as they are.

Loses:
    test_probabilities: *
Keeps:
    everything else
"""


# %% next_probabilities
def next_probabilities(logits, temperature=1.0, top_k=None):
    return logits


# %% [solution] *
