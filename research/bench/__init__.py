"""The bench: systems compared on labelled pages, from the command line.

`pages` says what a labelled page is, `readers` and `datasets` get them, `systems` asks a system
about them, `metrics` and `scoring` say how good an answer is, `folds` and `runner` who learns
from what, `resampling` and `summary` how sure that is, `report` and `markdown` tell it.
"""
