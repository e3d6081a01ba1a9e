"""Rules of strangers: what they cost, whatever a file states about itself.

Each is loaded in a process with limits on its memory and its processor time.
"""

from __future__ import annotations

import bz2
import io
import json
import logging
import lzma
import os
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from scrapy_mss.wrappers import Wrapper, WrapperError, css, load_wrappers, schema
from tests.plugin.crawling import environment

LIMITED = Path(__file__).parents[1] / "helpers" / "limited.py"
MEMORY = 200  # megabytes more than the imports take
CPU = 20  # seconds; each case takes less than one, and before its fix minutes or gigabytes
ZEROS = 2**28  # more than MEMORY
CONFIG = "body: //article\n"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits are those of Linux")


def loaded(*sources: Path) -> list[str]:
    """What came of each source; a process that its limits end is a failure."""
    command = [sys.executable, str(LIMITED), str(MEMORY), str(CPU), *map(str, sources)]
    done = subprocess.run(
        command,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=600,  # for one that waits for ever
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    outcomes = json.loads(done.stdout)
    assert isinstance(outcomes, list)
    return outcomes


def write_lying_zip(path: Path, method: int, packed: bytes, stated: int = 1000) -> Path:
    """A zip archive of one file that states *stated* bytes and unpacks to `ZEROS`."""
    name = b"a.example.txt"
    crc = zlib.crc32(bytes(stated))
    facts = struct.pack("<HHHHIII", 0, method, 0, 0x21, crc, len(packed), stated)
    local = b"PK\3\4" + struct.pack("<H", 20) + facts + struct.pack("<HH", len(name), 0) + name
    central = b"PK\1\2" + struct.pack("<HH", 20, 20) + facts
    central += struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, 0) + name
    at = len(local) + len(packed)
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), at, 0)
    path.write_bytes(local + packed + central + end)
    return path


class Packer(Protocol):
    def compress(self, data: bytes, /) -> bytes: ...
    def flush(self) -> bytes: ...


def packed(packer: Packer) -> bytes:
    """`ZEROS` bytes as *packer* packs them."""
    parts = [packer.compress(bytes(2**20)) for _ in range(ZEROS // 2**20)]
    return b"".join(parts) + packer.flush()


def lzma_of_zip() -> bytes:
    filters = [{"id": lzma.FILTER_LZMA1, "preset": 0}]
    header = struct.pack("<BBHBI", 9, 4, 5, 0x5D, 2**18)  # a version, and the packer's properties
    return header + packed(lzma.LZMACompressor(lzma.FORMAT_RAW, filters=filters))


@pytest.mark.slow("it packs gigabytes")
@pytest.mark.parametrize(
    ("method", "pack", "expected"),
    [
        # It is read as far as it states.
        (zipfile.ZIP_DEFLATED, lambda: packed(zlib.compressobj(9, zlib.DEFLATED, -15)), "0 wrapp"),
        (zipfile.ZIP_BZIP2, lambda: packed(bz2.BZ2Compressor()), "stored or deflated, got bzip2"),
        (zipfile.ZIP_LZMA, lzma_of_zip, "stored or deflated, got lzma"),
    ],
)
def test_a_zip_entry_that_lies_about_its_size_takes_no_memory(
    tmp_path: Path, method: int, pack: Callable[[], bytes], expected: str
) -> None:
    path = write_lying_zip(tmp_path / "lying.zip", method, pack())

    (outcome,) = loaded(path)

    assert expected in outcome


def test_a_zip_archive_is_read_with_the_methods_that_can_be_bounded(tmp_path: Path) -> None:
    outcomes: list[object] = []
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        path = tmp_path / f"{method}.zip"
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr("a.example.txt", CONFIG)
        try:
            outcomes.append(len(load_wrappers(path)))
        except WrapperError as error:
            outcomes.append(str(error).partition("txt: ")[2])

    expected = "expected a file that is stored or deflated, got "
    assert outcomes == [1, 1, f"{expected}bzip2", f"{expected}lzma"]


def write_tar(path: Path, kind: bytes, size: int) -> Path:
    """A tar archive whose first header is of *kind* and *size*, before a file of rules."""
    with lzma.open(path, "wb", preset=0) as file:
        header = tarfile.TarInfo("header")
        header.type, header.size = kind, size
        file.write(header.tobuf(tarfile.USTAR_FORMAT))
        for _ in range(size // 2**20):
            file.write(bytes(2**20))
        rules = tarfile.TarInfo("a.example.txt")
        rules.size = len(CONFIG)
        file.write(rules.tobuf() + CONFIG.encode().ljust(512, b"\0") + bytes(1024))
    return path


@pytest.mark.slow("it packs gigabytes")
@pytest.mark.parametrize(
    "kind", [tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE]
)
def test_a_long_header_of_a_tar_archive_takes_no_memory(tmp_path: Path, kind: bytes) -> None:
    path = write_tar(tmp_path / "header.tar.xz", kind, ZEROS)

    (outcome,) = loaded(path)

    assert outcome == f"{path}: expected tar headers of at most 4,096 bytes, got longer ones"


def test_a_long_path_in_a_tar_archive_is_read(tmp_path: Path) -> None:
    name = "/".join(["rules" * 10] * 10)
    data = CONFIG.encode()
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        with tarfile.open(tmp_path / f"{form}.tar.gz", "w:gz", format=form) as archive:
            member = tarfile.TarInfo(f"{name}/a.example.txt")
            member.size, member.mtime = len(data), 1.5
            archive.addfile(member, io.BytesIO(data))

        assert len(load_wrappers(tmp_path / f"{form}.tar.gz")) == 1


def test_a_tar_header_that_leads_back_ends_the_reading(tmp_path: Path) -> None:
    member = tarfile.TarInfo("a.md")
    header = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    header[124:136] = b"\xff" * 10 + (2**16 - 1024).to_bytes(2, "big")  # a size of -1,024
    header[148:156] = b" " * 8
    header[148:156] = f"{sum(header):06o}\0 ".encode()
    path = tmp_path / "back.tar"
    path.write_bytes(bytes(header) * 4 + bytes(1024))

    (outcome,) = loaded(path)

    assert outcome.startswith(f"{path}: expected ")


# Site config files

LONG = {
    "spaces in a value": "title: x" + " " * 500_000 + "x",
    "spaces before a colon": "title" + " " * 500_000 + ": x",
    "spaces and no colon": "title" + " " * 500_000 + "x",
    "spaces in a substring": "strip_id_or_class: x" + " " * 500_000 + "x",
    "spaces after a parenthesis": "replace_string(x)" + " " * 500_000 + "x",
    "number signs": "strip_id_or_class: x" + "#" * 500_000,
}


def test_no_line_takes_more_than_its_length(tmp_path: Path) -> None:
    paths = []
    for number, line in enumerate(LONG.values()):
        paths.append(tmp_path / f"{number}.example.com.txt")
        paths[-1].write_text(f"{line}\n{CONFIG}")

    assert loaded(*paths) == ["1 wrappers"] * len(LONG)


# YAML


@pytest.mark.parametrize("tag", ["", "!!int ", "!!float "])
def test_a_number_of_base_sixty_is_none(tmp_path: Path, tag: str) -> None:
    path = tmp_path / "sixty.yaml"
    path.write_text(f"site: a.example\nbody: p\npriority: {tag}{'1:' * 400_000}1\n")

    (outcome,) = loaded(path)

    expected = "YAML with plain values" if tag else "an integer"
    assert f"expected {expected}, got " in outcome
    assert len(outcome) < 1000


def test_a_list_of_many_values_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "many.yaml"
    path.write_text(f"site: a.example\nbody: [{'p,' * 400_000}]\n")

    (outcome,) = loaded(path)

    assert outcome.endswith(f"more than {schema.MOST_VALUES:,} values")


def test_many_wrappers_are_read(tmp_path: Path) -> None:
    count = 500
    rules = "".join(f"---\nsite: s{n}.example\nbody: div.text\n" for n in range(count))
    path = tmp_path / "many.yaml"
    path.write_text(rules)

    assert len(load_wrappers(path)) == count


def test_a_message_has_a_bounded_length(tmp_path: Path) -> None:
    keys = "".join(f"{'k' * 900}{n}: 1\n" for n in range(500))
    (tmp_path / "keys.yaml").write_text(f"site: a.example\nbody: p\n{keys}")

    with pytest.raises(WrapperError) as caught:
        load_wrappers(tmp_path / "keys.yaml")

    assert len(caught.value.problems) == 500
    assert len(str(caught.value)) < 40_000
    assert str(caught.value).endswith("\n  and 480 more")


# What is no regular file, and links


@pytest.mark.parametrize("name", ["pipe.yaml", "pipe.zip", "pipe.tar.gz", "folder", "zero.yaml"])
def test_what_is_no_regular_file_is_rejected(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    odd = path / "pipe.yaml" if name == "folder" else path
    odd.parent.mkdir(exist_ok=True)
    if name == "zero.yaml":
        odd.symlink_to("/dev/zero")
    else:
        os.mkfifo(odd)

    (outcome,) = loaded(path)

    kind = "device" if name == "zero.yaml" else "named pipe"
    assert outcome.startswith(str(odd))
    assert outcome.endswith(f"expected a regular file, got a {kind}")


def test_a_link_out_of_the_folder_is_rejected_and_nothing_of_it_is_shown(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hidden:x:0:0")
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "out.yaml").symlink_to("../secret")
    (folder / "gone.yaml").symlink_to(tmp_path / "nothing")
    (folder / "circle.yaml").symlink_to("circle.yaml")
    (folder / "a.yaml").write_text("site: a.example\nbody: p\n")
    (folder / "inside.yaml").symlink_to("a.yaml")

    with pytest.raises(WrapperError) as caught:
        load_wrappers(folder)

    circle, *lines = map(str, caught.value.problems)
    assert circle.startswith(f"{folder}/circle.yaml: expected a readable file, got ")
    assert lines == [
        f"{folder}/{name}.yaml: expected a file of this folder, got a link out of it"
        for name in ("gone", "out")
    ]
    assert "hidden" not in str(caught.value)
    for name in ("out", "gone", "circle"):
        (folder / f"{name}.yaml").unlink()
    assert [wrapper.site for wrapper in load_wrappers(folder)] == ["a.example"] * 2


# Terminals

ESCAPE = "\x1b]0;owned\x07"


def test_no_message_controls_a_terminal(tmp_path: Path) -> None:
    (tmp_path / f"{ESCAPE}.yaml").write_text("body: [")
    (tmp_path / "b.yaml").write_text('site: a.example\nbody: "p[\\e]0;owned\\a"')

    with pytest.raises(WrapperError) as caught:
        load_wrappers(tmp_path)

    message = str(caught.value)
    assert all(line.isprintable() for line in message.splitlines())
    assert "\\x1b]0;owned\\x07" in message


def test_a_wrapper_in_the_log_does_not_control_a_terminal(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    body = (css("p"),)
    rules = [Wrapper(site="a.example", body=body, name=f"{n}{ESCAPE}") for n in range(2)]

    load_wrappers([rules]).find("https://a.example/")

    (message,) = caplog.messages
    assert message.isprintable()
