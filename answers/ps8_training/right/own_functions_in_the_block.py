"""The block is differentiated with functions of the same cell in place of the parts that are handed over."""

# %% transformer_block_backward
def transformer_block_backward(d_Y, X, block, parts):
    normal_1 = layer_norm(X, block["gamma_1"], block["beta_1"])
    Z = X + multihead_attention(normal_1, block["W_q"], block["W_k"], block["W_v"], block["W_o"])[0]
    normal_2 = layer_norm(Z, block["gamma_2"], block["beta_2"])

    weights = [block[name] for name in ("W_1", "b_1", "W_2", "b_2")]
    d_normal_2, d_W_1, d_b_1, d_W_2, d_b_2 = feed_forward_backward(d_Y, normal_2, *weights)
    through_norm, d_gamma_2, d_beta_2 = layer_norm_backward(d_normal_2, Z, block["gamma_2"], block["beta_2"])
    d_Z = through_norm + d_Y
    weights = [block[name] for name in ("W_q", "W_k", "W_v", "W_o")]
    d_normal_1, d_W_q, d_W_k, d_W_v, d_W_o = multihead_attention_backward(d_Z, normal_1, *weights)
    through_norm, d_gamma_1, d_beta_1 = layer_norm_backward(d_normal_1, X, block["gamma_1"], block["beta_1"])
    return through_norm + d_Z, dict(
        W_1=d_W_1, b_1=d_b_1, W_2=d_W_2, b_2=d_b_2, W_q=d_W_q, W_k=d_W_k, W_v=d_W_v, W_o=d_W_o,
        gamma_1=d_gamma_1, beta_1=d_beta_1, gamma_2=d_gamma_2, beta_2=d_beta_2,
    )

# %% train
def train(parameters, batches, loss_and_gradients, step):
    names = list(parameters)
    values = [parameters[name] for name in names]
    states = [adam_start(value) for value in values]
    losses = []
    while len(losses) < len(batches):
        loss, gradients = loss_and_gradients(dict(zip(names, values)), batches[len(losses)])
        losses += [loss]
        for i in range(len(names)):
            values[i], states[i] = step(values[i], gradients[names[i]], states[i])
    return dict(zip(names, values)), losses

# %% [markdown] why_by_hand_answer
# 1. The weights of a row share one denominator, so when one score grows, the other weights shrink.
# 2. About 4000 forward passes for each sequence, where the backward pass costs two or three.
# 3. The direction is right, and Adam takes the factor out.

# %% [solution] *
