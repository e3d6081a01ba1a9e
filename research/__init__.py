"""What the project measures and makes its model with; no part of the installed package.

`datasets` are labelled pages, `training` makes the bundled model of them, `systems` are the
extractors of papers and peers, `bench` compares them, `studies` vary one parameter or part, and
`benchmarks` take times. Each may import those before it.
"""
