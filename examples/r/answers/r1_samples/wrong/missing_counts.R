# A missing number makes all of them missing.
#
# Loses:
#     test_standardise: missing numbers stay missing
# Keeps:
#     everything else
#
# hidden: the text says that missing numbers do not count, and students should try it themselves

# %% standardise
standardise <- function(x) (x - mean(x)) / sd(x)

# %% [solution] *
