"""Feature columns that DeepRec adds to the released ones, besides those over EmbeddingVariables (see `embedding.columns`).

They stand on the released columns of `feature_column_v2`, have both their interfaces, and are reached as
`tf.feature_column.*`.
"""
