"""The maximum is taken off in place, so the caller's scores change.

Loses:
    test_online: other sizes, and arguments that stay as they were
Keeps:
    everything else
"""


# %% online_update
def online_update(state, scores, values):
    maximum, total, weighted = state
    new_maximum = max(maximum, np.max(scores))
    scores -= new_maximum
    powers = np.exp(scores)
    correction = np.exp(maximum - new_maximum)
    return new_maximum, correction * total + np.sum(powers), correction * weighted + powers @ values


# %% [solution] *
