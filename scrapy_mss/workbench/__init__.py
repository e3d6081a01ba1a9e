"""A local web application for editing and checking the rule of a site.

    pages       the pages of each site, from what is stored
    bench       a site's pages read once: blocks, tokens, trees
    editing     a click on a block -> another rule
    judging     a rule and a page -> how they agree, and where not
    saving      the edited text -> a rule, saved and checked by the loader of a crawl
    drawing     a page with its blocks marked, in which nothing of the page's runs
    answers     the questions of the page, and all of the above asked for answers
    security    who may ask
    serving     requests -> the answers
    why_page    an explanation as a page of its own, for a report

The browser holds the rule, as YAML, and the undo history; the server holds the pages. Each request
contains everything on which its answer depends.
"""
