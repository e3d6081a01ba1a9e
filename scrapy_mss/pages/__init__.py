"""What is known of a page before its text is read: its address, and what it declares of itself."""
