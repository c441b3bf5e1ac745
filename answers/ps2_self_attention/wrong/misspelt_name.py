"""The outputs are right, but the list is called all_x_primes; the list that was asked for stays empty.

Loses:
    test_attention_loop: *
    test_all_x_prime: *
Keeps:
    everything else
"""

# %% attention_loop
all_x_prime = []
all_x_primes = []
for n in range(N):
    scores = [(key.T @ all_queries[n]).item() for key in all_keys]
    attention = softmax(scores)
    x_prime = sum(a * v for a, v in zip(attention, all_values))
    all_x_primes.append(x_prime)

# %% [solution] *
