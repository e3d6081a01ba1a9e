"""The bundled model's classifier of text blocks, on top of the counts of Naive Bayes."""
