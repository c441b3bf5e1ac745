"""One name is misspelt (atencion), so one result is missing.

Loses:
    test_gusta: the output of gusta
Keeps:
    everything else
"""

# %% attend_gusta
gusta_alphas = softmax(keys @ gusta_query)
gusta_atencion = gusta_alphas @ values

# %% [solution] *
