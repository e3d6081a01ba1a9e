"""Serves the demo web until it is interrupted: ``python -m demo_web --port 8765``."""

from __future__ import annotations

import argparse
import contextlib
import threading

from demo_web import SITES, serving

PORT = 8765


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser(prog="demo_web", description=__doc__)
    parser.add_argument("--port", type=int, default=PORT, help=f"default: {PORT}")
    with serving(parser.parse_args().port) as address, contextlib.suppress(KeyboardInterrupt):
        print(f"use {address} as HTTP proxy for these sites:")  # noqa: T201
        for site in SITES.values():
            print(f"http://{site.host}/")  # noqa: T201
        threading.Event().wait()


if __name__ == "__main__":
    main()
