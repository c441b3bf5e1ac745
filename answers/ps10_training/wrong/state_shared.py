"""One state serves all names.

Loses:
    test_train: a state for each name
Keeps:
    everything else
"""

# %% train
def train(parameters, batches, loss_and_gradients, step):
    trained, losses = dict(parameters), []
    state = adam_start(next(iter(parameters.values())))
    for batch in batches:
        loss, gradients = loss_and_gradients(trained, batch)
        losses.append(loss)
        for name in parameters:
            trained[name], state = step(trained[name], gradients[name], state)
    return trained, losses

# %% [solution] *
