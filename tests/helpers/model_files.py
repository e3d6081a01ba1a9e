"""Model files taken apart and put together again, with the right checksum whatever is in them."""

from __future__ import annotations

import json
import struct
from hashlib import blake2b
from typing import Any

import pytest

from scrapy_mss.models.format import DIGEST_SIZE, MAGIC, ModelError, from_bytes, read_header

REMEDIES = ("Give the path", "Use a copy", "Train it again", "train again", "Update scrapy-mss")


def parts_of(data: bytes) -> tuple[dict[str, Any], bytes]:
    """A model's header, and its counts and weights."""
    header, position = read_header(data)
    return header, data[position:-DIGEST_SIZE]


def assembled(header: object, body: bytes) -> bytes:
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    content = MAGIC + struct.pack("<I", len(head)) + head + body
    return content + blake2b(content, digest_size=DIGEST_SIZE).digest()


def with_header(data: bytes, **changes: object) -> bytes:
    """The model file *data* with other values in its header."""
    header, body = parts_of(data)
    return assembled({**header, **changes}, body)


def rejection_of(data: bytes) -> str:
    """The message of the error that *data* is rejected with; it says what to do."""
    with pytest.raises(ModelError) as caught:
        from_bytes(data)
    message = str(caught.value)
    assert any(remedy in message for remedy in REMEDIES), message
    return message
