"""`python -m research.bench`."""

from research.bench.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
