"""Makes `demo_web` importable: it belongs to the example project, which is not installed."""

from __future__ import annotations

import sys
from pathlib import Path

EXAMPLE_PROJECT = Path(__file__).resolve().parents[2] / "example_project"

if str(EXAMPLE_PROJECT) not in sys.path:
    sys.path.insert(0, str(EXAMPLE_PROJECT))
