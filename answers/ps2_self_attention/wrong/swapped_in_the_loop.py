"""The loop compares key n with every query, instead of query n with every key.

Loses:
    test_attention_loop: *
    test_all_x_prime: *
Keeps:
    everything else
"""

# %% attention_loop
all_x_prime = []
for n in range(N):
    all_km_qn = []
    for m in range(N):
        dot_product = np.dot(all_queries[m].T, all_keys[n])
        all_km_qn.append(dot_product[0, 0])
    attention = softmax(all_km_qn)
    x_prime = sum(attention[m] * all_values[m] for m in range(N))
    all_x_prime.append(x_prime)

# %% [solution] *
