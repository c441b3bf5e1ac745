"""x_prime stays the vector of zeros it was started with; the sum over the values is missing.

Loses:
    test_attention_loop: *
    test_all_x_prime: *
Keeps:
    everything else
"""

# %% attention_loop
all_x_prime = []
for n in range(N):
    scores = [(key.T @ all_queries[n]).item() for key in all_keys]
    attention = softmax(scores)
    x_prime = np.zeros((D, 1))
    all_x_prime.append(x_prime)

# %% [solution] *
