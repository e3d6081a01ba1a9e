"""Site memory: what earlier pages of a site tell about its next page."""
