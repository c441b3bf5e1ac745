"""Copied from the cell above: the weights of gusta are computed with the query of me.

Loses:
    test_gusta: the weights of gusta
Keeps:
    everything else
"""

# %% attend_gusta
gusta_alphas = softmax(keys @ me_query)
gusta_attention = gusta_alphas @ values

# %% [markdown] why_uniform_answer
# The scores are all close to zero. So the outputs are the mean of the values.
# Training would change the alphas.

# %% [solution] *
