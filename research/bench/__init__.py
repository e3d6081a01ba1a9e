"""The bench: systems compared on labelled pages, from the command line.

`measurement` asks a system about pages, `metrics` and `scoring` say how good an answer is, `folds`
and `runner` who learns from what, `resampling` and `summary` how sure that is, `report` and
`markdown` tell it, `compare` puts several runs side by side. `fields` compares what libraries
report of a page's title, authors and date, `labels` what site rules label.
"""
