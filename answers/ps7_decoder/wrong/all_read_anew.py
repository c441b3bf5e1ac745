"""The tokens are kept in a variable outside, and all of them are read anew at each step.

Loses:
    test_cache: equal to the full pass at every position
    test_cache: a cache that somebody else has filled
    test_cache: two texts in turns, and the model stays as it was
Keeps:
    everything else
"""


# %% decode_step
read = []

def decode_step(token, cache, model):
    if cache[0]["keys"].shape[1] == 0:
        read.clear()
    read.append(token)
    grown = [
        {name: np.concatenate([part[name], np.zeros_like(model["blocks"][0]["W_k" if name == "keys" else "W_v"][:, :1])], axis=1)
         for name in ("keys", "values")}
        for part in cache
    ]
    return decoder_logits(read, model)[-1], grown


# %% [solution] *
