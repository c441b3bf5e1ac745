"""The model is asked about the newest token alone.

Loses:
    test_generate: *
Keeps:
    everything else
"""


# %% generate
def generate(tokens, logits_of, pick, count):
    tokens = list(tokens)
    for _ in range(count):
        tokens.append(pick(logits_of(tokens[-1:])[-1]))
    return tokens


# %% [solution] *
