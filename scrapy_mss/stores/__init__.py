"""Where models live."""
