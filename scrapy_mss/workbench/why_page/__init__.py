"""An explanation of a reading as a page of its own, fit to be attached to a report of a fault."""
