"""A local web application for editing and checking the rule of a site.

    pages       the pages of each site, from what is stored
    reading     a page read once: blocks, tokens, tree
    editing     a click on a block -> another rule
    judging     a rule and a page -> how they agree, and where not
    saving      the edited text -> a rule, saved and checked by the loader of a crawl
    drawing     a page for the frame, in which nothing of the page's runs
    security    who may ask
    app         requests -> the above

The browser holds the rule, as YAML, and the undo history; the server holds the pages. Each request
contains everything on which its answer depends.
"""
