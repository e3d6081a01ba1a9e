"""Where wrappers are loaded from, all their problems in one report, and hostile files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from scrapy_mss.wrappers import Wrapper, WrapperError, css, load_wrappers, registry, schema

A = Wrapper(site="a.example", body=(css("article"),))
B = Wrapper(site="b.example", body=(css("article"),))
YAML_A = "site: a.example\nbody: article\n"
FILES = {
    "rules/b.yml": "site: b.example\nbody: article\n---\nsite: c.example\nbody: article\n",
    "rules/a.yaml": YAML_A,
    "rules/notes.md": "body: [",
    "rules/.git/e.yaml": "site: e.example\nbody: article\n",
}


def write_folder(path: Path, contents: Mapping[str, str]) -> Path:
    for name, text in contents.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return path


def sites(*sources: object) -> list[str]:
    return [wrapper.site for wrapper in load_wrappers(sources)]  # type: ignore[arg-type]


def problem_lines(*sources: object) -> list[str]:
    with pytest.raises(WrapperError) as caught:
        load_wrappers(sources)  # type: ignore[arg-type]
    return [str(problem) for problem in caught.value.problems]


def test_a_folder_is_read_by_the_endings_of_its_files(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, FILES)

    registry = load_wrappers(folder / "rules")

    assert [wrapper.site for wrapper in registry] == ["a.example", "b.example", "c.example"]


def test_every_kind_of_source_keeps_its_place(tmp_path: Path) -> None:
    file = write_folder(tmp_path, {"c.yaml": "site: c.example\nbody: p"}) / "c.yaml"

    found = sites(A, str(file), {"site": "e.example", "body": "p"}, [A, B], file)

    assert [site[0] for site in found] == list("aceabc")
    for alone in (A, str(file)):  # needs no list
        assert list(load_wrappers(alone)) == list(load_wrappers([alone]))


def test_problems_of_all_sources_are_reported_at_once(tmp_path: Path) -> None:
    folder = write_folder(
        tmp_path,
        {
            "bad/1.yaml": "site: a.example\nbody: 'p['",
            "bad/2.yaml": "site: a.example\nbody: p\n---\nsite: b.example\nbody: '*'",
            "bad/3.yaml": "\n",
            "bad/4.yaml": "body: [",
        },
    )
    (folder / "bad/5.yaml").write_bytes(b"site: a.example\nbody: \xff")

    lines = problem_lines(folder / "bad", "news_rules:RULES", 7, [A, "x"], {})

    expected = [
        f"{folder}/bad/1.yaml: line 2: $.body: expected a CSS selector, got 'p['",
        f"{folder}/bad/2.yaml: line 5: document 2: $.body: expected a selector that leaves ",
        f"{folder}/bad/3.yaml: expected a mapping with 'site' and 'body' or 'around', ",
        f"{folder}/bad/4.yaml: line 1, column 8: expected YAML with plain values",
        f"{folder}/bad/5.yaml: byte 22: expected text in UTF-8, got the bytes b'\\xff'",
        "source 2: expected a path, a Wrapper, a mapping, or a list of the last two: import the na",
        "source 3: expected a path, a Wrapper, a mapping, or a list of the last two, got the numb",
        "source 4[1]: expected a Wrapper or a mapping, got the string 'x'",
        "source 5: $: expected a key 'site', got none",
        "source 5: $: expected a key 'body' or 'around', got none",
    ]
    assert [line[: len(start)] for line, start in zip(lines, expected, strict=True)] == expected


def test_a_path_without_rules_is_reported(tmp_path: Path) -> None:
    write_folder(tmp_path, {"empty/x.md": "", "rules.json": "{}", "rules.tar.xz": ""})
    one_of_them = "expected a folder of files that end in .yaml, .yml, or one of them"
    names = ("none", "none.yaml", "empty", "rules.json", "rules.tar.xz")

    lines = problem_lines(*(tmp_path / name for name in names))

    expected = [
        "none: expected a readable file or folder, got no such file",
        "none.yaml: expected a readable file or folder, got no such file",
        "empty: expected a folder of files that end in .yaml, .yml, got one without any",
        f"rules.json: {one_of_them}, got another file",
        f"rules.tar.xz: {one_of_them}, got an archive: unpack it",
    ]
    heads = [f"{tmp_path}/{line}" for line in expected]
    assert [line[: len(head)] for line, head in zip(lines, heads, strict=True)] == heads


# Hostile files


def test_a_file_that_is_too_large_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_folder(tmp_path, {"a.yaml": YAML_A, "b.yaml": "#" * 5000, "c.md": "#" * 9000})
    monkeypatch.setattr(registry, "LARGEST_FILE", 4_000)

    (line,) = problem_lines(folder)

    assert line == f"{folder}/b.yaml: expected a file of at most 4,000 bytes, got a larger one"


def test_a_file_of_many_values_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "MAX_VALUES", 1_000)
    rules = "".join(f"---\nsite: s{n}.example\nbody: div.text\n" for n in range(100))
    write_folder(
        tmp_path, {"few.yaml": rules, "many.yaml": f"site: a.example\nbody: [{'p,' * 1000}]"}
    )

    (line,) = problem_lines(tmp_path / "many.yaml")

    assert line.endswith("more than 1,000 values")
    assert len(load_wrappers(tmp_path / "few.yaml")) == 100


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.skipif(sys.platform != "linux", reason="the limits are those of Linux")
def test_special_files_take_no_time_and_no_memory(tmp_path: Path) -> None:
    children = pytest.importorskip("research.benchmarks.children", reason="psutil is not installed")
    zero, folder = tmp_path / "zero.yaml", tmp_path / "folder"
    zero.symlink_to("/dev/zero")
    folder.mkdir()
    os.mkfifo(folder / "pipe.yaml")

    def lines() -> Iterator[str]:
        children.limit_memory(200_000_000)
        children.limit_cpu(20)  # it takes less than one, and would take for ever
        for source in (zero, folder, folder / "pipe.yaml"):
            yield from problem_lines(source)

    for line, kind in zip(
        children.forked(lines), ("device", "named pipe", "named pipe"), strict=True
    ):
        assert line.endswith(f"expected a regular file, got a {kind}")


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
    assert circle.startswith(f"{folder}/circle.yaml: expected a readable file or folder, got ")
    assert lines == [
        f"{folder}/{name}.yaml: expected a file of this folder, got a link out of it"
        for name in ("gone", "out")
    ]
    assert "hidden" not in str(caught.value)
    for name in ("out", "gone", "circle"):
        (folder / f"{name}.yaml").unlink()
    assert [wrapper.site for wrapper in load_wrappers(folder)] == ["a.example"] * 2


def test_a_message_has_a_bounded_length(tmp_path: Path) -> None:
    keys = "".join(f"{'k' * 900}{n}: 1\n" for n in range(500))
    (tmp_path / "keys.yaml").write_text(f"site: a.example\nbody: p\n{keys}")

    with pytest.raises(WrapperError) as caught:
        load_wrappers(tmp_path / "keys.yaml")

    assert len(caught.value.problems) == 500
    assert len(str(caught.value)) < 40_000
    assert str(caught.value).endswith("\n  and 480 more")


ESCAPE = "\x1b]0;owned\x07"


def test_no_message_controls_a_terminal(tmp_path: Path) -> None:
    (tmp_path / f"{ESCAPE}.yaml").write_text("body: [")
    (tmp_path / "b.yaml").write_text('site: a.example\nbody: "p[\\e]0;owned\\a"')

    with pytest.raises(WrapperError) as caught:
        load_wrappers(tmp_path)

    message = str(caught.value)
    assert all(line.isprintable() for line in message.splitlines())
    assert "\\x1b]0;owned\\x07" in message
