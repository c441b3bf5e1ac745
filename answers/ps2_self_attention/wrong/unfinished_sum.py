"""x_prime is a fresh product at every step and is appended at every step, so the sum is never made.

Loses:
    test_attention_loop: *
    test_all_x_prime: *
Keeps:
    everything else
"""

# %% attention_loop
all_x_prime = []
for n in range(N):
    scores = []
    for m in range(N):
        scores.append((all_keys[m].T @ all_queries[n]).item())
    attention = softmax(scores)
    for m in range(N):
        x_prime = attention[m] * all_values[m]
        all_x_prime.append(x_prime)

# %% [solution] *
