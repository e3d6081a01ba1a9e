"""Labelled pages: what one is, the layouts they come in (`readers`), and sets by name (`sets`)."""
