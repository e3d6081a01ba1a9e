"""A page on one's own machine on which the rule for a site is made and checked.

    pages       the pages of each site, from what is stored
    reading     a page read once: blocks, tokens, tree
    rule_text   rules as YAML and back
    editing     a click on a block -> another rule
    judging     a rule and a page -> how they agree, and where not
    saving      a rule into the folder of rules, checked by the loader of a crawl
    drawing     a page for the frame, in which nothing of the page's runs
    security    who may ask
    app         requests -> the above

The browser keeps the rule, as YAML, and what can be undone; the server keeps pages. Each request
says all that its answer depends on.
"""
