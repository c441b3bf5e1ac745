# The largest value of a group, without the smallest.
#
# Loses:
#     test_spread: the ranges
#     test_spread: a group with one value
# Keeps:
#     everything else

# %% spread
spread <- function(groups) {
    largest <- tapply(groups$value, groups$group, max)
    data.frame(group = names(largest), range = as.vector(largest))
}

# %% [solution] *
