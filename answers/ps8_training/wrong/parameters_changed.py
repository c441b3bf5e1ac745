"""The dictionary of the caller is trained itself.

Loses:
    test_train: a state for each name, and parameters that stay as they are
Keeps:
    everything else
"""

# %% train
def train(parameters, batches, loss_and_gradients, step):
    losses = []
    states = {name: adam_start(parameter) for name, parameter in parameters.items()}
    for batch in batches:
        loss, gradients = loss_and_gradients(parameters, batch)
        losses.append(loss)
        for name in parameters:
            parameters[name], states[name] = step(parameters[name], gradients[name], states[name])
    return parameters, losses

# %% [solution] *
