"""The dictionary that was handed over is trained itself.

Loses:
    test_train: parameters and batches stay as they were
Keeps:
    everything else
"""

# %% train
def train(parameters, batches, loss_and_gradients, step):
    states = {name: adam_start(parameter) for name, parameter in parameters.items()}
    losses = []
    for batch in batches:
        loss, gradients = loss_and_gradients(parameters, batch)
        losses.append(loss)
        for name in parameters:
            parameters[name], states[name] = step(parameters[name], gradients[name], states[name])
    return parameters, losses

# %% [solution] *
