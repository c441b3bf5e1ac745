"""The loop divides the scores by the square root of D, which was not asked.

Loses:
    test_attention_loop: *
    test_all_x_prime: *
Keeps:
    everything else
"""

# %% attention_loop
all_x_prime = []
for n in range(N):
    dot_products = [(key.T @ all_queries[n]).item() / np.sqrt(D) for key in all_keys]
    attention = softmax(dot_products)
    x_prime = sum(a * v for a, v in zip(attention, all_values))
    all_x_prime.append(x_prime)

# %% [solution] *
