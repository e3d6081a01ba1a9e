"""The life of a model: profile, counts, file format, store, and the bundled one."""
