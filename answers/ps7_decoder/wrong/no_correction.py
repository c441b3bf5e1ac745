"""Old sums are kept as they are when the maximum rises.

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
    return new_maximum, total + np.sum(powers), weighted + powers @ values


# %% [solution] *
