"""All parameters share one state.

Loses:
    test_train: several steps with new random numbers
    test_train: a state for each name, and parameters that stay as they are
Keeps:
    everything else
"""

# %% train
def train(parameters, batches, loss_and_gradients, step):
    trained, losses, state = dict(parameters), [], None
    for batch in batches:
        loss, gradients = loss_and_gradients(trained, batch)
        losses.append(loss)
        for name in trained:
            if state is None or np.shape(state["m"]) != np.shape(trained[name]):
                state = adam_start(trained[name])
            trained[name], state = step(trained[name], gradients[name], state)
    return trained, losses

# %% [solution] *
