"""Each output is its own value times its own weight; the other values are left out.

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
    for key in all_keys:
        dot_product = (key * all_queries[n]).sum()
        all_km_qn.append(dot_product)
    attention = softmax(all_km_qn)
    x_prime = attention[n] * all_values[n]
    all_x_prime.append(x_prime)

# %% [solution] *
