# The steps, and not where they lead.
#
# Loses:
#     test_walk: *
# Keeps:
#     everything else

# %% walk
walk <- function(n) sample(c(-1, 1), n, replace = TRUE)

# %% [solution] *
