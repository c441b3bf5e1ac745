"""Lists and generators only; the function returns nested lists."""

# %% multihead_scaled_self_attention
import math


def matmul(A, B):
    return [[sum(a * b for a, b in zip(row, column)) for column in zip(*B)] for row in A]


def affine(omega, beta, X):
    return [[x + float(b[0]) for x in row] for row, b in zip(matmul(omega, X), beta)]


def softmax_list(scores):
    powers = [math.exp(s) for s in scores]
    total = sum(powers)
    return [p / total for p in powers]


def weights(Q, K):
    S = matmul(list(zip(*K)), Q)
    columns = [softmax_list([s / math.sqrt(len(Q)) for s in column]) for column in zip(*S)]
    return list(zip(*columns))


def multihead_scaled_self_attention(X, omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1,
                                    omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2,
                                    omega_c):
    heads = []
    for ov, oq, ok, bv, bq, bk in [(omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1),
                                   (omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2)]:
        heads += matmul(affine(ov, bv, X), weights(affine(oq, bq, X), affine(ok, bk, X)))
    return matmul(omega_c, heads)

# %% [markdown] why_two_heads_answer
# 192 weights either way, 288 multiplications for the scores either way. Two maps instead of one:
# x_4 looks at x_1 in head 1 and at x_3 in head 2. omega_c is needed to mix the heads.
