"""What earlier crawls have seen: articles in their wording, and lists of them."""
