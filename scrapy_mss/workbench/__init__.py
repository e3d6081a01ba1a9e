"""A local web application for editing and checking the rule of a site.

    editing      a click on a block -> another rule
    saving       the edited text -> a rule, checked by the loader of a crawl and saved
    drawing      a page with its blocks marked, in which nothing of the page runs
    api          the requests of the browser, answered by all of the above
    serving      the HTTP server

The browser holds the rule, as YAML, and the undo history; the server holds the pages. Each request
contains everything on which its answer depends.
"""
