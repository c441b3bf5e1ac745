"""The losses are those after each step.

Loses:
    test_train: three steps
Keeps:
    everything else
"""

# %% train
def train(parameters, batches, loss_and_gradients, step):
    trained, losses = dict(parameters), []
    states = {name: adam_start(parameter) for name, parameter in parameters.items()}
    for batch in batches:
        _, gradients = loss_and_gradients(trained, batch)
        for name in parameters:
            trained[name], states[name] = step(trained[name], gradients[name], states[name])
        losses.append(loss_and_gradients(trained, batch)[0])
    return trained, losses

# %% [solution] *
