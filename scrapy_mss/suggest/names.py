"""Which ids and class words belong to a site's template, and which were generated for one page.

A generated name (`post-48213`, `css-1q2w3e`, `sc-bdVaJa`) selects nothing on the next page or after
the next release. Mistaking a name for a generated one costs little: the element or an ancestor has
other names. Names that CSS would have to escape are not used either.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 60  # characters: Portals join whole paths to a name, which nobody wants to read

_PLAIN: Final = re.compile(r"-?[A-Za-z_][A-Za-z0-9_-]*")
_NUMBER: Final = re.compile(r"\d{4}")  # of a page, a day, an advertisement; no size of a column
# Tools that name by hashing: their prefix, and then something with a digit or a capital letter.
_HASHED: Final = re.compile(
    r"(?:css|sc|jsx|jss|emotion|svelte|ember|react|yui|ext-gen|gen|makeStyles|_?ngcontent|v|e)"
    r"[-_](?=[a-zA-Z]*[0-9A-Z])[A-Za-z0-9_-]{3,}"
)
# The last part of `Article_body__3xTz9`: short, and with a digit among its letters.
_SUFFIX: Final = re.compile(r"(?:__|--)(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9_-]{4,8}")
_HEXADECIMAL: Final = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}", re.IGNORECASE)


def is_stable(name: str) -> bool:
    """Whether *name*, an id or a class word, can be one of the site's template."""
    return (
        len(name) <= LONGEST
        and _PLAIN.fullmatch(name) is not None
        and not _NUMBER.search(name)
        and not _HASHED.fullmatch(name)
        and not _SUFFIX.search(name)
        and not _HEXADECIMAL.search(name)
    )
