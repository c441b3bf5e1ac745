"""SciPy's logsumexp and softmax, bisect, accumulate and heapq; np.insert lets the cache grow."""

# %% decoder_logits
from functools import reduce


def decoder_logits(tokens, model):
    N = len(tokens)
    X = np.take(model["embedding"], tokens, 0) + model["positions"][:N]
    X = reduce(lambda rows, block: transformer_block(rows, block, causal_mask(N))[0], model["blocks"], X)
    return layer_norm(X, gamma=model["gamma"], beta=model["beta"]) @ model["unembedding"]


# %% cross_entropy
import scipy.special


def cross_entropy(logits, targets):
    return -scipy.special.log_softmax(logits, axis=1)[range(len(targets)), targets].sum() / len(targets)


# %% next_probabilities
import heapq


def next_probabilities(logits, temperature=1.0, top_k=None):
    kept = heapq.nlargest(top_k or len(logits), range(len(logits)), key=logits.__getitem__)
    z = np.full(len(logits), -np.inf)
    np.put(z, kept, np.take(logits, kept) / temperature)
    return scipy.special.softmax(z)


# %% draw
import bisect
from itertools import accumulate


def draw(probabilities, u):
    return bisect.bisect_right(list(accumulate(probabilities)), u)


# %% generate
def generate(tokens, logits_of, pick, count):
    def more(text):
        while len(text) < len(tokens) + count:
            newest = np.atleast_2d(logits_of(list(text)))[-1]
            text = text + (pick(newest),)
        return text

    return np.array(more(tuple(tokens)))


# %% decode_step
def decode_step(token, cache, model):
    n = np.array(cache[0]["keys"]).shape[1]
    x = np.add(model["embedding"][token], model["positions"][n])
    grown = [dict(part) for part in cache]
    for part, block in zip(grown, model["blocks"]):
        a = layer_norm(x[None], block["gamma_1"], block["beta_1"])[0]
        for name in ("k", "v"):
            full = {"k": "keys", "v": "values"}[name]
            part[full] = np.insert(part[full], n, np.matmul(a, block["W_" + name]), axis=1)
        scores = [K @ q for K, q in zip(part["keys"], a @ block["W_q"])] / np.sqrt(part["keys"].shape[-1])
        heads = np.matmul(scipy.special.softmax(scores, axis=1)[:, None, :], part["values"])
        x = x + sum(head[0] @ W for head, W in zip(heads, block["W_o"]))
        x = x + feed_forward(layer_norm(x, block["gamma_2"], block["beta_2"]), block["W_1"], block["b_1"], block["W_2"], block["b_2"])
    return np.dot(layer_norm(x, model["gamma"], model["beta"]), model["unembedding"]), tuple(grown)


# %% multiplications
def multiplications(new, length, model):
    from math import prod

    total = prod((new, *model["unembedding"].shape))
    for block in model["blocks"]:
        H, d_model, d_k = np.shape(block["W_q"])
        *_, d_v = np.shape(block["W_v"])
        for a, b, c in [(new, d_model, d_k)] * 2 + [(new, d_model, d_v), (new, d_k, length), (new, length, d_v), (new, d_v, d_model)]:
            total += H * a * b * c
        total += 2 * prod((new, *block["W_2"].shape))
    return np.int64(total)


# %% online_update
def online_update(state, scores, values):
    m, s, o = state
    new_m = float(np.fmax.reduce(scores, initial=m))
    with np.errstate(divide="ignore"):
        log_s = np.logaddexp(np.log(s) + (m if s > 0 else 0), scipy.special.logsumexp(scores))  # of the unshifted sum
    p = np.exp(np.subtract(scores, new_m))
    return new_m, np.exp(log_s - new_m), np.exp(m - new_m) * o + sum(weight * value for weight, value in zip(p, values))
