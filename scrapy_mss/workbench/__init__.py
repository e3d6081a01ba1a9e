"""A local web application for editing and checking the rule of a site.

    pages        stored pages by site
    editing      a click on a block -> another rule
    comparison   a rule and the model on a page -> where they differ
    saving       the edited text -> a rule, checked by the loader of a crawl and saved
    drawing      a page with its blocks marked, in which nothing of the page runs
    api          the requests of the browser, answered by all of the above
    security     which requests are allowed
    serving      the HTTP server
    why_page     an explanation as a page of its own, for a report

The browser holds the rule, as YAML, and the undo history; the server holds the pages. Each request
contains everything on which its answer depends.
"""
