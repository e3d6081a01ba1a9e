"""Where wrappers are loaded from, and that the problems of all places are reported together."""

from __future__ import annotations

import io
import logging
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest

from scrapy_mss.wrappers import Wrapper, WrapperError, css, load_wrappers, rule_files

A = Wrapper(site="a.example", body=(css("article"),))
B = Wrapper(site="b.example", body=(css("article"),))
YAML_A = "site: a.example\nbody: article\n"
FILES = {
    "rules/b.yml": "site: b.example\nbody: article\n---\nsite: c.example\nbody: article\n",
    "rules/a.yaml": YAML_A,
    "rules/.d.example.txt": "body: //article\n",
    "rules/README.txt": "Rules by site.\n",
    "rules/notes.md": "body: [",
    "rules/.git/e.example.txt": "body: //article\n",
}


def write_folder(path: Path, contents: Mapping[str, str]) -> Path:
    for name, text in contents.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return path


def write_tar(path: Path, contents: Mapping[str, str]) -> Path:
    kind = path.suffix.removeprefix(".")
    with tarfile.open(path, f"w:{'gz' if kind == 'tgz' else kind}") as archive:  # type: ignore[call-overload]
        for name, text in contents.items():
            data = text.encode()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def write_zip(path: Path, contents: Mapping[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in contents.items():
            archive.writestr(name, text)
    return path


def sites(*sources: object) -> list[str]:
    return [wrapper.site for wrapper in load_wrappers(sources)]  # type: ignore[arg-type]


def problem_lines(*sources: object) -> list[str]:
    with pytest.raises(WrapperError) as caught:
        load_wrappers(sources)  # type: ignore[arg-type]
    return [str(problem) for problem in caught.value.problems]


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = ModuleType("news_rules")
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


def test_a_folder_is_read_by_the_endings_of_its_files(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, FILES)

    registry = load_wrappers(folder / "rules")

    assert {wrapper.site for wrapper in registry} == {
        "*.d.example",
        "a.example",
        "b.example",
        "c.example",
    }
    assert (registry.report.files, registry.report.without_body) == (2, 1)


@pytest.mark.parametrize("name", ["r.tar.xz", "r.tar.gz", "r.tgz", "r.tar.bz2", "r.zip", "R.ZIP"])
def test_an_archive_gives_what_its_folder_gives(tmp_path: Path, name: str) -> None:
    contents = {name: text for name, text in FILES.items() if ".git" not in name}
    write = write_zip if name.lower().endswith("zip") else write_tar

    assert sites(write(tmp_path / name, contents)) == sites(write_folder(tmp_path / "x", contents))


def test_every_kind_of_source_keeps_its_place(tmp_path: Path, module: ModuleType) -> None:
    file = write_folder(tmp_path, {"c.yaml": "site: c.example\nbody: p"}) / "c.yaml"
    module.RULES = [B, {"site": "d.example", "body": "p"}]  # type: ignore[attr-defined]

    found = sites(A, str(file), "news_rules:RULES", {"site": "e.example", "body": "p"}, [A], file)

    assert [site[0] for site in found] == list("acbdeac")


def test_one_source_needs_no_list(tmp_path: Path, module: ModuleType) -> None:
    module.A = A  # type: ignore[attr-defined]
    file = write_folder(tmp_path, {"a.yaml": YAML_A}) / "a.yaml"

    loaded = [load_wrappers(source) for source in (A, "news_rules:A", file, str(file))]

    assert [list(registry) for registry in loaded] == [[A]] * 4
    assert len(load_wrappers([])) == 0


def test_problems_of_all_sources_are_reported_at_once(tmp_path: Path, module: ModuleType) -> None:
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
    module.RULES = [A, 5]  # type: ignore[attr-defined]

    lines = problem_lines(
        folder / "bad", "news_rules:RULES", "news_rules:NONE", "no_such:X", 7, [A, "x"], {}
    )

    expected = [
        f"{folder}/bad/1.yaml: line 2: $.body: expected a CSS selector, got 'p['",
        f"{folder}/bad/2.yaml: line 5: document 2: $.body: expected a selector that leaves ",
        f"{folder}/bad/3.yaml: expected a mapping with 'site' and 'body' or 'around', ",
        f"{folder}/bad/4.yaml: line 1, column 8: expected YAML with plain values",
        f"{folder}/bad/5.yaml: byte 22: expected text in UTF-8, got the bytes b'\\xff'",
        "news_rules:RULES[1]: expected a Wrapper or a mapping, got the number 5",
        "news_rules:NONE: expected a name in a Python module, got AttributeError",
        "no_such:X: expected a name in a Python module, got ModuleNotFoundError",
        "source 5: expected a path, 'module:NAME', a Wrapper, a mapping, or a list",
        "source 6[1]: expected a Wrapper or a mapping, got the string 'x'",
        "source 7: $: expected a key 'site', got none",
        "source 7: $: expected a key 'body' or 'around', got none",
    ]
    assert [line[: len(start)] for line, start in zip(lines, expected, strict=True)] == expected


def test_a_wrapper_that_fails_in_its_module_is_reported_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "from scrapy_mss.wrappers import Wrapper\nW = Wrapper(site='a b', body=())\n"
    monkeypatch.syspath_prepend(write_folder(tmp_path, {"broken_rules.py": code}))

    lines = problem_lines("broken_rules:W")

    assert [line.partition(", got")[0] for line in lines] == [
        "broken_rules:W: .site: expected a host, such as example.com or *.example.com",
        "broken_rules:W: .body: expected at least one selector",
    ]


def test_a_path_without_rules_is_reported(tmp_path: Path) -> None:
    write_folder(
        tmp_path, {"empty/x.md": "", "rules.json": "{}", "torn.tar.xz": "x", "torn.zip": "x"}
    )

    names = ["none", "none.yaml", "empty", "rules.json", "torn.tar.xz", "torn.zip"]
    lines = problem_lines(*(tmp_path / name for name in names))

    expected = [
        "none: expected a readable file, folder or archive, got FileNotFoundError: No such",
        "none.yaml: expected a readable file, folder or archive, got FileNotFoundError",
        "empty: expected files that end in .yaml, .yml, .txt, got none",
        "rules.json: expected files that end in .yaml, .yml, .txt, got none",
        "torn.tar.xz: expected a readable file, folder or archive, got ReadError",
        "torn.zip: expected a readable file, folder or archive, got BadZipFile",
    ]
    heads = [f"{tmp_path}/{line}" for line in expected]
    assert [line[: len(head)] for line, head in zip(lines, heads, strict=True)] == heads


LARGE = {"a.yaml": YAML_A, "b.yaml": "#" * 5000, "c.md": "#" * 9000}


@pytest.mark.parametrize(
    ("bound", "value", "told"),
    [
        ("LARGEST_FILE", 4_000, "r/b.yaml: expected a file of at most 4,000 bytes"),
        ("LARGEST_FILE", 4_000, "r.zip/b.yaml: expected a file of at most 4,000 bytes"),
        ("LARGEST_FILE", 4_000, "r.tar.xz/b.yaml: expected a file of at most 4,000 bytes"),
        ("LARGEST_ARCHIVE", 14_000, "r.zip: expected an archive of at most 14,000 bytes unpacked"),
        ("LARGEST_ARCHIVE", 14_000, "r.tar.xz: expected an archive of at most 14,000 bytes unpack"),
        ("MOST_FILES", 2, "r.zip: expected an archive of at most 2 files"),
        ("MOST_FILES", 2, "r.tar.xz: expected an archive of at most 2 files"),
        ("LARGEST_ZIP", 50, "r.zip: expected a zip archive of at most 50 bytes"),
    ],
)
def test_what_is_too_large_is_rejected(tmp_path: Path, bound: str, value: int, told: str) -> None:
    write_folder(tmp_path / "r", LARGE)
    write_tar(tmp_path / "r.tar.xz", LARGE)
    write_zip(tmp_path / "r.zip", LARGE)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rule_files, bound, value)
        (line,) = problem_lines(tmp_path / told.partition(":")[0].partition("/")[0])

    assert line.startswith(f"{tmp_path}/{told}")


def test_problems_of_third_parties_are_skipped_and_counted_unless_asked_otherwise(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    text = "body: //p\nstrip: //a[\nprune: no\n"
    folder = write_folder(tmp_path, {"a.example.txt": text, "b.example.txt": "body: //p["})

    registry = load_wrappers(folder)
    with pytest.raises(WrapperError) as caught:
        load_wrappers(folder, third_party="raise")

    assert [wrapper.site for wrapper in registry] == ["a.example"]
    assert registry.report.problems == list(caught.value.problems)
    (message,) = caplog.messages
    assert message == (
        "site config files: 1 wrappers from 2 files, 1 without a body, 2 problems; "
        "ignored directives: prune 1"
    )
