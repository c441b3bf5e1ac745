"""np.sum without an axis adds up the entries of the output as well, so each output is one number.

Loses:
    test_attention_loop: *
    test_all_x_prime: *
Keeps:
    everything else
"""

# %% attention_loop
all_x_prime = []
for n in range(N):
    attention = softmax([np.vdot(key, all_queries[n]) for key in all_keys])
    x_prime = np.sum([a * v for a, v in zip(attention, all_values)])
    all_x_prime.append(x_prime)

# %% [solution] *
