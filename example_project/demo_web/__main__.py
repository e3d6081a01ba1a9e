"""The demo web on the command line.

    python -m demo_web serve [--port 8765] [--sites daily-harbour,signal-live]
    python -m demo_web gold --out gold.jsonl [--html] [--sites …]

`gold` writes one JSON object a line, as `python -m research.bench run --test jsonl:FILE` reads
them when `--html` adds the pages: id, url, site, group (`wrapped` or `bare`), lang, page_type,
golds, and title, authors, published.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import demo_web
from demo_web.server import serve

PORT = 8765


def sites(text: str) -> list[str]:
    """The sites that *text* names, parted by commas."""
    names = text.split(",")
    unknown = [name for name in names if name not in demo_web.SITES]
    if unknown:
        known = ", ".join(demo_web.SITES)
        raise argparse.ArgumentTypeError(f"no site {unknown[0]!r}; there are {known}")
    return names


def records(names: list[str], *, with_html: bool) -> Iterator[dict[str, object]]:
    """What `gold` writes."""
    for name in names:
        site = demo_web.SITES[name]
        for page in demo_web.pages(name):
            if page.gold is None:
                continue
            record: dict[str, object] = {
                "id": f"{name}{page.path}",
                "url": page.gold.url,
                "site": site.host,
                "group": "wrapped" if site.wrapped else "bare",
                "lang": page.gold.language,
                "page_type": page.kind,
                "golds": [page.gold.text],
                "title": page.gold.title,
                "authors": page.gold.authors,
                "published": page.gold.published,
            }
            if with_html:
                record["html"] = page.body.decode(site.encoding)
            yield record


def write_gold(options: argparse.Namespace) -> None:
    """Write the gold texts to a file."""
    with options.out.open("w", encoding="utf-8") as lines:
        for record in records(options.sites, with_html=options.html):
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")


def start(options: argparse.Namespace) -> None:
    """Serve until stopped."""
    serve(options.sites, options.port, while_input=options.while_input)


def parser() -> argparse.ArgumentParser:
    """The two commands."""
    top = argparse.ArgumentParser(prog="demo_web", description=demo_web.__doc__.splitlines()[0])
    commands = top.add_subparsers(required=True)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--sites", type=sites, default=list(demo_web.SITES), help="default: all")
    server = commands.add_parser("serve", parents=[common], help="serve the sites on loopback")
    server.add_argument("--port", type=int, default=PORT, help=f"0: any; default: {PORT}")
    server.add_argument("--while-input", action="store_true", help="stop at the end of input too")
    server.set_defaults(run=start)
    gold = commands.add_parser("gold", parents=[common], help="write what extractors should find")
    gold.add_argument("--out", type=Path, required=True, help="the file to write, JSON lines")
    gold.add_argument("--html", action="store_true", help="the pages too")
    gold.set_defaults(run=write_gold)
    return top


def main(arguments: list[str] | None = None) -> int:
    """Run a command."""
    options = parser().parse_args(arguments)
    options.run(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
