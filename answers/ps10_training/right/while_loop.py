"""The loop counts for itself; the names stand in a list."""

# %% train
def train(parameters, batches, loss_and_gradients, step):
    names = list(parameters)
    values = [parameters[name] for name in names]
    states = [adam_start(value) for value in values]
    losses = []
    while len(losses) < len(batches):
        loss, gradients = loss_and_gradients(dict(zip(names, values)), batches[len(losses)])
        losses += [loss]
        for i in range(len(names)):
            values[i], states[i] = step(values[i], gradients[names[i]], states[i])
    return dict(zip(names, values)), losses

# %% [solution] *
