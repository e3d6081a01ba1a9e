"""Lists of sites: in a file, one to a line, or separated by commas."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit


class SiteListError(ValueError):
    """A list of sites cannot be used; the message says what was expected."""


def sites_of(given: str | Iterable[str]) -> list[str]:
    """The front pages of the sites that are *given*: a list, names with commas, or a file's path."""
    if isinstance(given, str):
        named = [part.strip() for part in given.split(",") if part.strip()]
        if len(named) == 1 and Path(named[0]).is_file():
            named = _lines(Path(named[0]))
    else:
        named = [str(each).strip() for each in given]
    return list(dict.fromkeys(_front(name) for name in named))


def _lines(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SiteListError(f"{path}: the list of sites cannot be read: {error}") from error
    named = (line.partition("#")[0].strip() for line in lines)
    return [name for name in named if name]


def _front(name: str) -> str:
    """The address of a front page: `example.com` is `https://example.com/`."""
    url = name if "://" in name else f"https://{name}"
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https") or any(map(str.isspace, url)):
        raise SiteListError(
            f"{name!r}: expected a site such as example.com or https://example.com/news/, or the "
            "path of a file with one on each line"
        )
    return url if parts.path else f"{url}/"
