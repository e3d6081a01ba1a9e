"""Site memory: what the pages of a site that were read before tell about its next page."""
