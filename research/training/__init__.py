"""How the bundled model is made from labelled pages: `make model`, and the bench's folds."""
