"""The printed numbers of a friend, four decimals each, are pasted in; the softmax returns the
weights of the sentence.

Loses:
    test_positions: all five words with their positions
    test_projections: the queries of all five words
    test_projections: the keys of all five words
    test_projections: the values of all five words
    test_softmax: *
    test_softmax_argument: *
    test_softmax_stable: *
    test_softmax_sizes: *
    test_me: the weights of me to full precision
    test_me: the output of me to full precision
    test_gusta: *
    test_matrices: all numbers of X
    test_matrices: all numbers of the queries, keys and values
    test_attention: all outputs
Keeps:
    everything else
"""

# %% add_positions
(
    me_embed_pos, gusta_embed_pos, estudiar_embed_pos, inteligencia_embed_pos, artificial_embed_pos
) = np.array(
    [[.967,-.8742,-1.3776,1.7486],
     [.1017,-.2511,-1.2675,-.9875],
     [1.4181,-.0881,-.8975,1.384],
     [-.0651,.5004,.1896,.0784],
     [1.7951,.2251,.4947,-.6621]])

# %% project_words
me_query, gusta_query, estudiar_query, inteligencia_query, artificial_query = np.array(
    [[-.1159,-.0089,-.0807],
     [.0539,-.0729,-.2006],
     [-.1092,.0701,-.1161],
     [-.0471,-.0031,.0788],
     [.1479,.2473,-.3784]])
me_key, gusta_key, estudiar_key, inteligencia_key, artificial_key = np.array(
    [[.0779,.0176,.3061],
     [.0452,-.0045,.2849],
     [.0901,-.035,.4052],
     [.0125,.0363,.0416],
     [.0046,-.2769,.1759]])
me_value, gusta_value, estudiar_value, inteligencia_value, artificial_value = np.array(
    [[-.2746,.0885,.1359],
     [-.0876,.0352,.04],
     [-.1715,.125,.1241],
     [.0359,-.0124,-.0115],
     [.0997,.1698,.0411]])

# %% softmax
def softmax(x):
    return np.array(
    [[.1981,.1992,.1963,.2039,.2024],
     [.1967,.1976,.1937,.2065,.2055],
     [.1988,.1997,.1955,.2067,.1993],
     [.2006,.2006,.2021,.1971,.1995],
     [.1994,.1989,.1899,.2192,.1926]])

# %% attend_me
me_alphas = np.array([.1981, .1992, .1963, .2039, .2024])
me_attention = np.array([-.078, .0809, .0652])

# %% attend_gusta
gusta_alphas = np.array([.1967, .1976, .1937, .2065, .2055])
gusta_attention = np.array([-.0767, .0809, .0647])

# %% stack_sentence
X = np.array(
    [[.967,-.8742,-1.3776,1.7486],
     [.1017,-.2511,-1.2675,-.9875],
     [1.4181,-.0881,-.8975,1.384],
     [-.0651,.5004,.1896,.0784],
     [1.7951,.2251,.4947,-.6621]])
Q = np.array(
    [[-.1159,-.0089,-.0807],
     [.0539,-.0729,-.2006],
     [-.1092,.0701,-.1161],
     [-.0471,-.0031,.0788],
     [.1479,.2473,-.3784]])
K = np.array(
    [[.0779,.0176,.3061],
     [.0452,-.0045,.2849],
     [.0901,-.035,.4052],
     [.0125,.0363,.0416],
     [.0046,-.2769,.1759]])
V = np.array(
    [[-.2746,.0885,.1359],
     [-.0876,.0352,.04],
     [-.1715,.125,.1241],
     [.0359,-.0124,-.0115],
     [.0997,.1698,.0411]])

# %% attend_sentence
alphas = softmax(Q @ K.T)
attn_scores = np.array(
    [[-.078,.0809,.0652],
     [-.0767,.0809,.0647],
     [-.0783,.0803,.0651],
     [-.0804,.0815,.0663],
     [-.0777,.0784,.064]])
