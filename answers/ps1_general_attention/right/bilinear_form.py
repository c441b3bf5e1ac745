"""W_Q @ W_K.T as one matrix, log-softmax by logaddexp, a namedtuple as the pair, type hints."""

# %% [solution] *

# %% attention_matrices
scores = words @ (W_Q @ W_K.T) @ words.T
d = scores / np.sqrt(3)
weights = np.exp(d - np.logaddexp.reduce(d, axis=1, keepdims=True))
attention = weights @ words @ W_V

# %% general_attention
from typing import NamedTuple

class Attended(NamedTuple):
    attention: np.ndarray
    weights: np.ndarray

def general_attention(words: np.ndarray, W_Q: np.ndarray, W_K: np.ndarray, W_V: np.ndarray) -> Attended:
    """My docstring."""
    d = words @ (W_Q @ W_K.T) @ words.T / np.sqrt(W_K.shape[1])
    weights = np.exp(d - np.logaddexp.reduce(d, axis=1, keepdims=True))
    return Attended(weights @ words @ W_V, weights)

# %% [markdown] why_divide_answer
# Word 1 with the division: 0.236, 0.007, 0.749, 0.007. Without: 0.119, 0.000, 0.880, 0.000.
# Word 3 gets exp(2 / 1.732) = 3.17 times what word 1 gets, and exp(2) = 7.39 times without the division, since
# the denominator of the softmax drops out of the ratio.
# The order is kept, so word 3 remains first. In the limit every weight is 1/4.
# Variances add up: a score has variance d_k, so its size is about sqrt(d_k). At 300, differences of 17 or more
# are normal and one weight would be nearly 1. Dividing by sqrt(d_k) gives variance 1 for any d_k.
