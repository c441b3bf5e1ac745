"""The new tokens are appended to the caller's list.

Loses:
    test_generate: the old tokens stay as they were
Keeps:
    everything else
"""


# %% generate
def generate(tokens, logits_of, pick, count):
    for _ in range(count):
        tokens.append(pick(logits_of(tokens)[-1]))
    return tokens


# %% [solution] *
