"""Copied from the cell above: the output of gusta is summed with the weights of me.

Loses:
    test_gusta: the output of gusta
Keeps:
    everything else
"""

# %% attend_gusta
gusta_alphas = softmax(keys @ gusta_query)
gusta_attention = me_alphas @ values

# %% [solution] *
