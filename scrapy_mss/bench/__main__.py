"""`python -m scrapy_mss.bench`."""

from scrapy_mss.bench.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
