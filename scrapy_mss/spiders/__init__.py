"""Spiders that find articles, and the functions behind them for your own spiders.

Nothing is imported here: the process that reads lists needs no spider, and starts sooner without.
"""
