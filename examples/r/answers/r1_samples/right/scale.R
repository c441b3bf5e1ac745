# With scale(), aggregate() and Reduce().

# %% standardise
standardise <- function(x) as.vector(scale(x))

# %% spread
spread <- function(groups) {
    ranges <- aggregate(value ~ group, groups, function(v) diff(range(v)))
    names(ranges)[2] <- "range"
    ranges
}

# %% walk
walk <- function(n) Reduce(`+`, 1 - 2 * sample(0:1, n, replace = TRUE), accumulate = TRUE)
