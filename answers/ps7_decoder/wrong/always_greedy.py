"""pick is not used, the largest logit always wins.

Loses:
    test_generate: other models, and other ways to pick
Keeps:
    everything else
"""


# %% generate
def generate(tokens, logits_of, pick, count):
    tokens = list(tokens)
    for _ in range(count):
        tokens.append(int(np.argmax(logits_of(tokens)[-1])))
    return tokens


# %% [solution] *
