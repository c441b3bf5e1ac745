"""The transformer block of ps6, in NumPy: inputs are rows, parameters stand in a dictionary by the names of PyTorch."""

import numpy as np


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def attention(X, part, mask=None):
    """Output (N, d_model) and weights (H, N, N) of attention with H heads."""
    scores = (X @ part["W_q"]) @ np.swapaxes(X @ part["W_k"], -1, -2) / np.sqrt(part["W_k"].shape[-1])
    if mask is not None:
        scores = np.where(np.asarray(mask), scores, -np.inf)
    weights = softmax(scores)
    return (weights @ (X @ part["W_v"]) @ part["W_o"]).sum(axis=0), weights


def layer_norm(X, gamma, beta, eps=1e-5):
    centred = X - X.mean(axis=-1, keepdims=True)
    return gamma * centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps) + beta


def block(X, part, mask=None):
    """Output (N, d_model) of a block that normalises first."""
    heads = {name.removeprefix("heads."): value for name, value in part.items() if name.startswith("heads.")}
    middle = X + attention(layer_norm(X, part["norm_1.weight"], part["norm_1.bias"]), heads, mask)[0]
    normed = layer_norm(middle, part["norm_2.weight"], part["norm_2.bias"])
    hidden = np.maximum(normed @ part["into.weight"].T + part["into.bias"], 0)
    return middle + hidden @ part["out.weight"].T + part["out.bias"]
