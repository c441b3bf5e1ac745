"""Everything twice, bias by a product with ones, with prints and unused variables."""

# %% multihead_scaled_self_attention
import math

def multihead_scaled_self_attention(X, omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1,
                                    omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2,
                                    omega_c):
    D, N = X.shape
    H_D = omega_q1.shape[0]
    ones = np.ones((1, N))
    # head 1
    Q1 = np.matmul(beta_q1, ones) + np.matmul(omega_q1, X)
    K1 = np.matmul(beta_k1, ones) + np.matmul(omega_k1, X)
    V1 = np.matmul(beta_v1, ones) + np.matmul(omega_v1, X)
    scores1 = np.matmul(K1.transpose(), Q1) / math.sqrt(H_D)
    att1 = softmax_cols(scores1)
    out1 = np.matmul(V1, att1)
    # head 2
    Q2 = np.matmul(beta_q2, ones) + np.matmul(omega_q2, X)
    K2 = np.matmul(beta_k2, ones) + np.matmul(omega_k2, X)
    V2 = np.matmul(beta_v2, ones) + np.matmul(omega_v2, X)
    scores2 = np.matmul(K2.transpose(), Q2) / math.sqrt(H_D)
    att2 = softmax_cols(scores2)
    out2 = np.matmul(V2, att2)
    print(out1.shape, out2.shape)
    both = np.concatenate((out1, out2))
    X_prime = np.matmul(omega_c, both)
    return X_prime

# %% [markdown] why_two_heads_answer
# Cost: H heads have 3 x D/H x D weights each which gives 3D^2. Scores: N^2 products of length D/H
# per head, N^2 D in total. One head of size D: 3D^2 and N^2 D. No difference. Attending: one head
# has only one softmax per query. With 2 heads x_1 takes from x_5 in head 1 and mostly from x_4 in
# head 2. Omega_c: without it, the outputs of the heads sit in separate rows and never meet.
