"""The gradients are computed again after each parameter has moved.

Loses:
    test_train: gradients before anything moves
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
