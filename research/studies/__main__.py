"""`python -m research.studies`."""

from research.studies.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
