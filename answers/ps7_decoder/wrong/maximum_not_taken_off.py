"""The powers of the scores themselves are summed up: right at the end, but 1000 overflows.

Loses:
    test_online: *
Keeps:
    everything else
"""


# %% online_update
def online_update(state, scores, values):
    maximum, total, weighted = state
    new_maximum = max(maximum, np.max(scores))
    powers = np.exp(scores)
    correction = 1.0
    return new_maximum, correction * total + np.sum(powers), correction * weighted + powers @ values


# %% [solution] *
