"""A small made-up site: articles of one template, with boxes that are no text, and other pages."""

from __future__ import annotations

import random

from scrapy_mss.files.stored_pages import StoredPage

SUBJECTS = "council harbour bridge school theatre museum orchestra railway library market".split()
VERBS = "announced defended postponed welcomed rejected reviewed opened presented".split()
ENDINGS = (
    "after a long debate that lasted until midnight",
    "although several residents had asked for more time",
    "because the budget of the region allows no further delay",
    "while a crowd of several hundred people waited outside",
    "which the mayor called the best news of the whole year",
    "and said that the work would begin in the coming spring",
)


def sentence(rng: random.Random) -> str:
    """A sentence of running text."""
    one, other = rng.sample(SUBJECTS, 2)
    return f"The {one} {rng.choice(VERBS)} the plans of the {other}, {rng.choice(ENDINGS)}."


def paragraphs(rng: random.Random, count: int = 6) -> list[str]:
    """Paragraphs of three sentences."""
    return [" ".join(sentence(rng) for _ in range(3)) for _ in range(count)]


def article(number: int, host: str = "news.example") -> StoredPage:
    """The article of that *number*; its day is in March 2024."""
    rng = random.Random(f"article {number}")  # noqa: S311
    texts = paragraphs(rng)
    title = f"The {rng.choice(SUBJECTS)} and the {rng.choice(SUBJECTS)}: report {number}"
    box = '<div class="related-box"><h4>Read also</h4><a href="/a">More on this story</a></div>'
    body = "".join(f"<p>{text}</p>{box if at == 2 else ''}" for at, text in enumerate(texts))
    teasers = "".join(f'<li><a href="/t/{n}">{sentence(rng)}</a></li>' for n in range(4))
    day = f"2024-03-{number % 28 + 1:02}"
    html = f"""<!DOCTYPE html><html><head><title>{title} | Example News</title>
<meta property="og:title" content="{title}"><meta property="og:site_name" content="Example News">
<meta property="article:published_time" content="{day}T08:00:00Z"></head>
<body id="page-{number + 10_000}">
<nav class="menu"><a href="/">Home</a> <a href="/sport">Sport</a></nav>
<div class="column"><h1 class="headline">{title}</h1>
<p class="byline">By <a rel="author" href="/staff">Ann Miller</a></p>
<time class="stamp" datetime="{day}T08:00:00Z">{day}</time>
<div class="story-text css-{number}f3x9z" id="post-{number + 48_000}">{body}
<div class="share"><a href="#">Share</a> <a href="#">Tweet</a> <a href="#">Send</a></div></div>
<ul class="teasers">{teasers}</ul></div>
<footer class="imprint">Copyright 2024 Example News. All rights reserved.</footer></body></html>"""
    return StoredPage(f"https://{host}/2024/report-{number}.html", html)


def text_of(number: int) -> str:
    """The text of `article`, an empty line between its paragraphs."""
    return "\n\n".join(paragraphs(random.Random(f"article {number}")))  # noqa: S311


def front_page(host: str = "news.example") -> StoredPage:
    """A page of links."""
    rng = random.Random("front")  # noqa: S311
    links = "".join(f'<li><a href="/2024/{n}">{sentence(rng)[:40]}</a></li>' for n in range(40))
    html = f"<html><head><title>Example News</title></head><body><ul>{links}</ul></body></html>"
    return StoredPage(f"https://{host}/", html)
