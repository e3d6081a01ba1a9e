"""What is shown of an article: sanitized HTML, Markdown, media."""
