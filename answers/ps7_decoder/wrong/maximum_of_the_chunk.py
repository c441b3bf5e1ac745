"""The maximum is that of the newest chunk, also where an older one was larger.

Loses:
    test_online: *
Keeps:
    everything else
"""


# %% online_update
def online_update(state, scores, values):
    maximum, total, weighted = state
    new_maximum = np.max(scores)
    powers = np.exp(scores - new_maximum)
    correction = np.exp(maximum - new_maximum)
    return new_maximum, correction * total + np.sum(powers), correction * weighted + powers @ values


# %% [solution] *
