"""The gradients are computed again after each parameter has moved.

Loses:
    test_train: gradients before anything moves
    test_train: a state for each name
    test_train: random numbers, several batches, and none
    test_train: parameters and batches stay as they were
Keeps:
    everything else
"""

# %% train
def train(parameters, batches, loss_and_gradients, step):
    trained, losses = dict(parameters), []
    states = {name: adam_start(parameter) for name, parameter in parameters.items()}
    for batch in batches:
        losses.append(loss_and_gradients(trained, batch)[0])
        for name in parameters:
            _, gradients = loss_and_gradients(trained, batch)
            trained[name], states[name] = step(trained[name], gradients[name], states[name])
    return trained, losses

# %% [solution] *
