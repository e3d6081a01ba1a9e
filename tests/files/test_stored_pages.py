"""Sources of stored pages that are hostile: a record of any size, links, named pipes."""

from __future__ import annotations

import gzip
import json
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from scrapy_mss.files import sources, stored_pages, warc
from scrapy_mss.files.sources import Source
from scrapy_mss.files.stored_pages import SourceError, StoredPage
from tests.helpers.archives import warc_members

PAGE = StoredPage("https://a.example/1", "<p>A page.")
RECORD = json.dumps({"url": PAGE.url, "html": PAGE.html}).encode()
CANONICAL = f'<link rel="canonical" href="{PAGE.url}">'.encode()
LARGEST = 10_000


@pytest.fixture(autouse=True)
def largest_page(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sources, stored_pages, warc):
        monkeypatch.setattr(module, "LARGEST_PAGE", LARGEST)


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "jsonl.xz"])
@pytest.mark.parametrize("length", [LARGEST + 1, 5 * LARGEST, 5 * LARGEST + 7])
def test_a_line_larger_than_a_page_is_skipped(tmp_path: Path, ending: str, length: int) -> None:
    content = b"\n".join([RECORD, b" " * length, RECORD])
    packers: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "xz": lzma.compress}
    pack = packers.get(ending.rpartition(".")[2], bytes)
    path = tmp_path / f"pages.{ending}"
    path.write_bytes(pack(content))
    source = Source(path)

    assert list(source) == [PAGE, PAGE]
    assert source.skipped.count == 1
    assert source.skipped.first == "line 2: more than 10,000 bytes"


def test_a_line_of_gigabytes_is_read_in_parts() -> None:
    asked = []

    class Endless:
        """A line that goes on; what is asked of it is kept."""

        def readline(self, size: int = -1) -> bytes:
            asked.append(size)
            return b"x" * size if len(asked) < 50 else b"x\n" if len(asked) == 50 else b""

    assert list(stored_pages.bounded_lines(Endless())) == [None]  # type: ignore[arg-type]
    assert len(asked) == 51
    assert set(asked) <= {LARGEST, LARGEST + 1}


def test_a_file_larger_than_a_page_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(CANONICAL.ljust(LARGEST + 1))
    (tmp_path / "b.html").write_bytes(CANONICAL)
    source = Source(tmp_path)

    assert [page.url for page in source] == [PAGE.url]
    assert source.skipped.first == f"{tmp_path}/a.html: expected at most 10,000 bytes"


def test_links_out_of_the_folder_and_pipes_are_skipped(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    (tmp_path / "out.html").write_bytes(CANONICAL)
    (folder / "link.html").symlink_to("../out.html")
    os.mkfifo(folder / "pipe.html")
    (folder / "a.html").write_bytes(CANONICAL)
    source = Source(folder)

    assert [page.url for page in source] == [PAGE.url]
    assert source.skipped.count == 2
    assert source.skipped.first == f"{folder}/link.html: expected a regular file of this folder"


@pytest.mark.parametrize("name", ["pipe.jsonl", "pipe.html", "pipe.warc.gz"])
def test_a_named_pipe_is_no_source(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)

    with pytest.raises(SourceError, match="expected a folder or a regular file"):
        list(Source(tmp_path / name))


def test_damaged_and_too_large_records_of_a_warc_file_are_skipped(tmp_path: Path) -> None:
    pytest.importorskip("fastwarc")
    pages = [StoredPage(f"https://a.example/{n}", f"<p>{n}" * 100) for n in range(5)]
    pages[3] = StoredPage(pages[3].url, "<p>" * LARGEST)
    first, damaged, second, large, last = warc_members(pages)
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join([first, large, second, damaged[:-9] + b"\0" * 9, last[:-20]]))
    source = Source(path)

    assert list(source) == [pages[0], pages[2]]
    assert source.skipped.count == 3
    assert source.skipped.first == f"{pages[3].url}: more than 10,000 bytes"


@pytest.mark.parametrize("content", [b"garbage", gzip.compress(b"garbage", mtime=0), b""])
def test_a_file_in_another_format_is_no_warc_file(tmp_path: Path, content: bytes) -> None:
    pytest.importorskip("fastwarc")
    path = tmp_path / "a.warc.gz"
    path.write_bytes(content)

    with pytest.raises(SourceError, match=r"a\.warc\.gz: expected a WARC file"):
        list(Source(path))
