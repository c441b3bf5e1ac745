"""Every output is appended twice.

Loses:
    test_attention_loop: *
    test_all_x_prime: *
Keeps:
    everything else
"""

# %% attention_loop
all_x_prime = []
for n in range(N):
    scores = [np.sum(all_keys[m] * all_queries[n]) for m in range(N)]
    attention = softmax(scores)
    x_prime = np.zeros((D, 1))
    for m in range(N):
        x_prime += attention[m] * all_values[m]
    all_x_prime.append(x_prime)

    all_x_prime.append(x_prime)

# %% [solution] *
