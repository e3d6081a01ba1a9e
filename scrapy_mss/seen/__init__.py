"""What earlier crawls have seen: which articles, in which wording, and which state of which list."""
