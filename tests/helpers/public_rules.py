"""The public rules of ftr-site-config, which lie beside the repository where it is developed."""

from __future__ import annotations

import tarfile
from pathlib import Path

SHARED = Path(__file__).resolve().parents[3] / "shared"
ARCHIVE = SHARED / "wrappers" / "ftr-site-config.tar.xz"


def unpacked(folder: Path) -> Path:
    """The folder of rules, inside *folder*."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder / "ftr-site-config"
