"""HTML as arrays: tokens, elements, attributes, and back to text and HTML."""
