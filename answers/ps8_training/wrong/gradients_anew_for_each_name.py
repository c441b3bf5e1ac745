"""The gradients are computed anew for each name, after other names have moved.

Loses:
    test_train: *
Keeps:
    everything else
"""

# %% train
def train(parameters, batches, loss_and_gradients, step):
    trained, losses = dict(parameters), []
    states = {name: adam_start(parameter) for name, parameter in parameters.items()}
    for batch in batches:
        losses.append(loss_and_gradients(trained, batch)[0])
        for name in trained:
            _, gradients = loss_and_gradients(trained, batch)
            trained[name], states[name] = step(trained[name], gradients[name], states[name])
    return trained, losses

# %% [solution] *
