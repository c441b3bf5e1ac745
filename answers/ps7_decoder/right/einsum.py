"""Everything by einsum, the blocks written out anew, nothing given is used."""

# %% decoder_logits
def norm(X, gamma, beta):
    mean = X.mean(-1, keepdims=True)
    return (X - mean) / np.sqrt(X.var(-1, keepdims=True) + 1e-5) * gamma + beta


def decoder_logits(tokens, model):
    tokens = np.asarray(tokens)
    N = tokens.shape[0]
    X = np.take(model["embedding"], tokens, axis=0) + model["positions"][np.arange(N)]
    for b in model["blocks"]:
        A = norm(X, b["gamma_1"], b["beta_1"])
        Q = np.einsum("nd,hdk->hnk", A, b["W_q"])
        K = np.einsum("nd,hdk->hnk", A, b["W_k"])
        V = np.einsum("nd,hdv->hnv", A, b["W_v"])
        S = np.einsum("hik,hjk->hij", Q, K) * Q.shape[-1] ** -0.5
        S = S + np.triu(np.full((N, N), -1e30), 1)
        P = np.exp(S - S.max(-1, keepdims=True))
        P = P / np.einsum("hij->hi", P)[..., None]
        X = X + np.einsum("hij,hjv,hvd->id", P, V, b["W_o"], optimize=True)
        F = np.einsum("nd,df->nf", norm(X, b["gamma_2"], b["beta_2"]), b["W_1"]) + b["b_1"]
        X = X + np.einsum("nf,fd->nd", F * (F > 0), b["W_2"]) + b["b_2"]
    return np.einsum("nd,dv->nv", norm(X, model["gamma"], model["beta"]), model["unembedding"])


# %% cross_entropy
def cross_entropy(logits, targets):
    one_hot = np.eye(logits.shape[1])[targets]
    shifted = logits - np.einsum("nv,nv->n", logits, one_hot)[:, None]  # the target's logit becomes 0
    return np.logaddexp.reduce(shifted, axis=1).mean()


# %% next_probabilities
def next_probabilities(logits, temperature=1.0, top_k=None):
    chances = np.exp((logits - logits.max()) / temperature)
    if top_k is not None:
        keep = np.zeros(len(logits))
        keep[np.argpartition(logits, -top_k)[-top_k:]] = 1
        chances = chances * keep
    return chances / np.einsum("v->", chances)


# %% draw
def draw(probabilities, u):
    return np.searchsorted(np.cumsum(probabilities), u, side="right")


# %% generate
def generate(tokens, logits_of, pick, count):
    text = np.array(tokens)
    while len(text) < len(tokens) + count:
        text = np.append(text, pick(logits_of(text)[-1]))
    return text


# %% decode_step
def decode_step(token, cache, model):
    x = model["embedding"][token] + model["positions"][np.shape(cache[0]["values"])[1]]
    for c, b in zip(cache, model["blocks"]):
        a = norm(x, b["gamma_1"], b["beta_1"])
        c["keys"] = np.append(c["keys"], np.einsum("d,hdk->hk", a, b["W_k"])[:, np.newaxis], axis=1)
        c["values"] = np.append(c["values"], np.einsum("d,hdv->hv", a, b["W_v"])[:, np.newaxis], axis=1)
        s = np.einsum("d,hdk,hnk->hn", a, b["W_q"], c["keys"]) / b["W_q"].shape[2] ** 0.5
        p = np.exp(s)
        p = np.einsum("hn,h->hn", p, 1 / p.sum(1))
        x = x + np.einsum("hn,hnv,hvd->d", p, c["values"], b["W_o"])
        f = np.einsum("d,df->f", norm(x, b["gamma_2"], b["beta_2"]), b["W_1"]) + b["b_1"]
        x = x + np.einsum("f,fd->d", np.clip(f, 0, None), b["W_2"]) + b["b_2"]
    return np.einsum("d,dv->v", norm(x, model["gamma"], model["beta"]), model["unembedding"]), cache


# %% multiplications
def multiplications(new, length, model):
    count = model["unembedding"].size
    for b in model["blocks"]:
        count += sum(b[name].size for name in ("W_q", "W_k", "W_v", "W_o", "W_1", "W_2"))
        count += len(b["W_q"]) * length * (b["W_k"].shape[-1] + b["W_v"].shape[-1])
    return new * count


# %% online_update
def online_update(state, scores, values):
    # The state is one more entry: the score m, with s as its weight and o as its value.
    m = np.append(scores, state[0])
    powers = np.exp(m - m.max())
    return m.max(), powers @ np.append(np.ones(len(scores)), state[1]), powers @ np.vstack([values, state[2]])
