"""The sum is corrected, the weighted sum is not.

Loses:
    test_online: *
Keeps:
    everything else
"""


# %% online_update
def online_update(state, scores, values):
    maximum, total, weighted = state
    new_maximum = max(maximum, np.max(scores))
    powers = np.exp(scores - new_maximum)
    correction = np.exp(maximum - new_maximum)
    return new_maximum, correction * total + np.sum(powers), weighted + powers @ values


# %% [solution] *
