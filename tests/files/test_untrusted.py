"""Files that are no regular files, and text that would control a terminal."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.files.untrusted import (
    open_regular,
    path_inside,
    printable,
    read_regular,
    without_controls,
)

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")


def test_a_regular_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "page"
    path.write_bytes(b"a\r\nb")
    (tmp_path / "link").symlink_to(path)

    assert read_regular(path, 4) == read_regular(tmp_path / "link", 4) == b"a\r\nb"


@POSIX
def test_only_regular_files_are_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        monkeypatch.chdir(tmp_path)  # the path of a socket is short
        listening.bind("socket")
    messages = []
    for path in (tmp_path / "pipe", tmp_path / "socket", Path("/dev/zero"), tmp_path):
        with pytest.raises(OSError, match=r".") as caught:
            open_regular(path)
        messages.append(caught.value.strerror)

    expected = "expected a regular file, got "
    assert messages == [
        f"{expected}a named pipe",
        f"{expected}a socket",
        f"{expected}a device",
        "Is a directory",
    ]


@POSIX
def test_a_file_that_becomes_a_pipe_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    status = (tmp_path / "file").stat()
    monkeypatch.setattr(Path, "stat", lambda _: status)

    with pytest.raises(OSError, match="got a named pipe"):
        open_regular(tmp_path / "pipe")


def test_a_link_is_inside_if_what_it_leads_to_is(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file").touch()
    (folder / "in").symlink_to("file")
    (folder / "out").symlink_to(tmp_path)

    assert path_inside(folder / "in", folder) == (folder / "file").resolve()
    assert path_inside(folder / "out", folder) is None
    assert path_inside(folder / "out" / "folder" / "file", folder) == (folder / "file").resolve()


@given(st.text())
def test_no_text_controls_a_terminal(text: str) -> None:
    shown = without_controls(text)

    controls = {chr(code) for code in (*range(32), *range(127, 160))} - {"\t", "\n"}
    assert not controls & set(shown)
    assert printable(text).isprintable()


@given(st.text(st.characters(exclude_categories=["C", "Z"])))
def test_other_text_stays_as_it_is(text: str) -> None:
    assert without_controls(text) == printable(text) == text
