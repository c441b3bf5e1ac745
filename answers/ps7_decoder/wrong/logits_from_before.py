"""The model is asked once, before the first new token, and all tokens are picked from that row.

Loses:
    test_generate: a greedy text
    test_generate: other models, and other ways to pick
Keeps:
    everything else
"""


# %% generate
def generate(tokens, logits_of, pick, count):
    tokens = list(tokens)
    row = logits_of(tokens)[-1]
    for _ in range(count):
        tokens.append(pick(row))
    return tokens


# %% [solution] *
