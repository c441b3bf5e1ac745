"""The gradient of the table word by word with a boolean mask; a while loop for the descent."""

# %% table_gradient
def table_gradient(d_logits, inputs, vocabulary):
    inputs = np.asarray(inputs)
    return np.stack([np.sum(d_logits[inputs == word], axis=0) for word in range(vocabulary)])

# %% descend
def descend(x, loss, gradient, rate, steps):
    places = [x]
    while len(places) <= steps:
        places.append(places[-1] - rate * gradient(places[-1]))
    return places[-1], [loss(place) for place in places[:-1]]

# %% [solution] *
