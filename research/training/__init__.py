"""How a model with a judge is learned from labelled pages: `make model`, and the bench's folds."""
