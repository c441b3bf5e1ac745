"""The query is divided before the product, with math.sqrt; a nested helper does each row; it prints inside."""

# %% vectors
query_1 = np.dot(word_1, W_Q); key_1 = np.dot(word_1, W_K); value_1 = np.dot(word_1, W_V)
query_2 = np.dot(word_2, W_Q); key_2 = np.dot(word_2, W_K); value_2 = np.dot(word_2, W_V)
query_3 = np.dot(word_3, W_Q); key_3 = np.dot(word_3, W_K); value_3 = np.dot(word_3, W_V)
query_4 = np.dot(word_4, W_Q); key_4 = np.dot(word_4, W_K); value_4 = np.dot(word_4, W_V)

# %% scores_word_1
scores = np.array([(query_1 * key).sum() for key in (key_1, key_2, key_3, key_4)])

# %% weights_word_1
import math
scaled_query = query_1 / math.sqrt(3)
weights = softmax([np.dot(scaled_query, key) for key in (key_1, key_2, key_3, key_4)])

# %% attention_word_1
attention = sum(w * v for w, v in zip(weights, (value_1, value_2, value_3, value_4)))

# %% matrices
words = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
Q, K, V = np.dot(words, W_Q), np.dot(words, W_K), np.dot(words, W_V)

# %% attention_matrices
scores = np.dot(Q, K.T)
weights = softmax(np.dot(Q / math.sqrt(3), K.T), axis=-1)
attention = np.dot(weights, V)

# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    number_of_words, length = words.shape
    d_k = W_Q.shape[1]

    def one_word(word):
        q = word @ W_Q / math.sqrt(d_k)
        return softmax(np.array([q @ (other @ W_K) for other in words]))

    weights = np.array([one_word(word) for word in words])
    print("weights", weights.shape)
    return weights @ (words @ W_V), weights

# %% [markdown] why_divide_answer
# divided: 0.236 0.007 0.749 0.007; not divided: 0.119 0.000 0.880 0.000
# exp(10-8)=7.389 without, exp((10-8)/sqrt(3))=3.173 with, the denominators cancel
# no because exp and division keep the order. with huge divisors uniform, 0.25 each
# var = d_k so std = sqrt(d_k) = 17, softmax becomes one-hot
