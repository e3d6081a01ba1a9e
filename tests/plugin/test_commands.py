"""`scrapy mss …` as people type it, in a folder with nothing in it."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TypeVar

import pytest
import yaml

from scrapy_mss.article import ModelState, read_article
from scrapy_mss.commands import ACTIONS
from scrapy_mss.markup.compiled import IS_COMPILED
from scrapy_mss.models.files import (
    bundled_model,
    load_with_bundled,
    read_model,
    with_bundled,
    write_model,
)
from scrapy_mss.models.format import to_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT, PAPER
from scrapy_mss.storage.sqlite_store import FILE
from tests.plugin.crawling import Done, environment, run_scrapy
from tests.plugin.models import assert_same_counts, learned, store_model, stored_model
from tests.plugin.site import RULES, Site, index, plain, story, wrapped

N_STORED = 8
STORED = range(N_STORED)
ALONE = "-s MSS_WORKERS=0 -s RETRY_ENABLED=0"
REFUSED = "http://127.0.0.1:1/news"  # nothing listens there
Name = TypeVar("Name", str, int)


def address(number: int) -> str:
    return f"http://127.0.0.1/wrapped/{number}"


def write_pages(folder: Path) -> None:
    lines = [json.dumps({"url": address(n), "html": wrapped(n)}) for n in STORED]
    (folder / "sound.jsonl").write_text("\n".join(lines))
    (folder / "pages.jsonl").write_text("\n".join([*lines, "{", '{"url": "http://a.com/"}']))
    (folder / "page.html").write_text(plain(1))
    (folder / "index.html").write_text(index(1))


def full() -> Model:
    """One whose counts are as large as they may be."""
    model = Model(DEFAULT)
    for counts in model.bayes.counts.values():
        counts[:] = 2**32 - 1
    return model


def write_rules(folder: Path, site: Site) -> None:
    rules = {"site": "127.0.0.1", "body": "article.story", "exclude": "div.box"}
    first, last = (story("wrapped", 1).paragraphs[n] for n in (0, -1))
    sound = {**rules, "tests": [address(0), {"url": address(1), "contains": [first, last]}]}
    served = {**rules, "tests": [site.url("/wrapped/1")]}
    written = {
        "rules": RULES[0],
        "sound": sound,
        "served": served,
        "lacking": {**rules, "tests": [{"url": address(1), "contains": ["not in the page"]}]},
        "outdated": {**rules, "body": "div.gone", "tests": [address(0)]},
        "fields": {**rules, "title": "h9.gone", "authors": "span.by", "tests": [address(0)]},
        "boxes": {**rules, "title": "h1", "exclude": "div.gone", "tests": [address(0)]},
        "unknown": {**rules, "tests": ["http://127.0.0.1/not-stored"]},
        "refused": {**rules, "tests": [REFUSED]},
        "faulty": {"site": "127.0.0.1"},
        "place": {"site": "127.0.0.1", "around": "article.story", "tests": sound["tests"]},
    }
    for name, rule in written.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(rule))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, site: Site, trained_once: Model) -> Path:
    """Everything that the command lines name; they run in the empty folder `cwd`."""
    folder = tmp_path_factory.mktemp("commands")
    (folder / "cwd").mkdir()
    write_pages(folder)
    write_rules(folder, site)
    write_model(folder / "trained.model", trained_once)
    for name in ("trained", "taught"):
        store_model(folder / f"{name}.store", trained_once)
    (folder / "damaged.model").write_bytes(to_bytes(trained_once)[:-1])
    write_model(folder / "paper.model", Model(PAPER))
    write_model(folder / "one.model", learned(range(3)))
    write_model(folder / "two.model", learned(range(3, 7)))
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR<p>words")
    os.mkfifo(folder / "pipe.yaml")
    (folder / "empty.html").write_text("<p><img src=a.png>")
    (folder / "cut.jsonl.gz").write_bytes(gzip.compress(plain(1).encode())[:-20])
    (folder / "foreign.store").mkdir()
    (folder / "foreign.store" / FILE).write_bytes(b"something else" * 99)
    write_model(folder / "full.model", full())
    return folder


def command(folder: Path, line: str) -> list[str]:
    """*line* in words, where `@` stands for *folder*."""
    return [word.replace("@", f"{folder}/") for word in line.split()]


@pytest.fixture(scope="module")
def done(folder: Path, site: Site) -> dict[str, Done]:
    """What came of command lines by name."""
    urls = f"{site.url('/plain/1')} {site.url('/wrapped/2')}"
    lines = {
        "urls": f"extract {urls} -m @trained.model",
        "urls untrained": f"extract {urls} -f text",
        "set": f"-s MSS_STORE=@trained.store extract @page.html {site.url('/plain/1')}",
        "bundled": f"-s MSS_STORE=@trained.store extract -b @page.html {site.url('/plain/1')}",
        "refused": f"extract {REFUSED}",
        "refused as text": f"extract {REFUSED} -f text",
        "not found": f"extract {site.url('/nowhere')} {site.url('/index/1')}",
        "no page": f"extract {site.url('/api/1')} {site.url('/plain/1')}",
        "check refused": "check @refused.yaml",
        "no articles": f"extract {site.url('/index/1')} -m @trained.model",
        "no texts": f"extract {site.url('/index/1')} @index.html -f text",
        "check served": "check @served.yaml",
        "files": "extract @page.html @index.html --model @trained.model",
        "text": "extract -f text @page.html",
        "train": "train @pages.jsonl -w @rules.yaml -m @new/jsonl.model",
        "train nameless": "train @ -w @rules.yaml -m @any.model",
        "train a store": "train @pages.jsonl -w @rules.yaml -m @taught.store",
        "merge": "merge @one.model @two.model -o @merged.model",
        "merge a store": "merge @trained.store @one.model -o @new/written.model",
        "check": "check @sound.yaml -p @pages.jsonl",
        "fields": "check @fields.yaml -p @pages.jsonl",
        "boxes": "check @boxes.yaml -p @pages.jsonl",
        "place": "check @place.yaml -p @pages.jsonl",
        "train at a place": "train @pages.jsonl -w @place.yaml -m @place.model",
        "explain": f"explain @page.html -u {address(1)} -w @place.yaml -o @why.html",
        "pictures": "extract @picture.png @empty.html @index.html",
        "lacking": "check @lacking.yaml -p @pages.jsonl",
        "outdated": "check @outdated.yaml -p @pages.jsonl",
        "not stored": "check @unknown.yaml -p @pages.jsonl",
        "info": "info @trained.model @one.model @trained.store",
        "info of nothing": "info",
    }
    # Where no worker is started, an address is read in half the time.
    return run(
        folder,
        {name: line if name == "urls" else f"{ALONE} {line}" for name, line in lines.items()},
    )


def together(folder: Path, *lines: str) -> list[Done]:
    """What comes of *lines*, one after the other."""
    return list(run(folder, dict(enumerate(lines))).values())


def run(folder: Path, lines: dict[Name, str], where: Path | None = None) -> dict[Name, Done]:
    return {
        name: run_scrapy(where or folder / "cwd", "mss", *command(folder, line))
        for name, line in lines.items()
    }


# Of each command line its exit code, and parts of what goes to standard output and to errors.
PLAIN, WRAPPED = (story("plain", 1).paragraphs, story("wrapped", 2).paragraphs)
COMPILED = f"\ncompiled part: {'in use' if IS_COMPILED else 'not built'}"
LEARNED = f"learned {N_STORED} pages, {N_STORED} in total"
EXPECTED: dict[str, tuple[int, tuple[str, ...], tuple[str, ...]]] = {
    "text": (0, tuple(PLAIN), ()),
    "urls": (0, (), ()),
    "urls untrained": (0, (PLAIN[0], WRAPPED[0]), ()),
    "check refused": (
        1,
        (f"FAIL  127.0.0.1  {REFUSED}  no page",),
        (f"scrapy mss check: {REFUSED}: not reachable: ",),
    ),
    "train": (0, (LEARNED,), ("skipped 2 records",)),
    "train nameless": (2, (), ("empty.html: expected a canonical URL", "no page was learned")),
    "train a store": (0, (f"learned {N_STORED} pages, {60 + N_STORED} in total",), ()),
    "train at a place": (2, (), ("no page was learned", "read_by_model")),
    "merge": (0, ("7 pages from 2 models",), ()),
    "merge a store": (0, ("63 pages from 2 models",), ()),
    "info of nothing": (0, (f"mss:{bundled_model().identifier}", "profile ", COMPILED), ()),
    "check": (0, ("2 of 2 test pages are labelled as expected",), ()),
    "place": (0, ("2 of 2 test pages",), ()),
    "check served": (0, ("/wrapped/1", "1 of 1 test pages"), ()),
    "fields": (1, ("FAIL  127.0.0.1  ", " words, nothing for title\n0 of 1 test pages"), ()),
    "boxes": (0, ("ok    127.0.0.1  ", " words, nothing for exclude\n1 of 1"), ()),
    "lacking": (1, ("FAIL", "missing 'not in the page'", "0 of 1 test pages"), ()),
    "outdated": (1, ("FAIL", "no_match", "0 of 1 test pages"), ()),
    "not stored": (1, ("FAIL", "no page", "0 of 1 test pages"), ()),
    "explain": (0, ("an article",), ()),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_command_prints_its_result(done: dict[str, Done], name: str) -> None:
    code, out, err = EXPECTED[name]

    assert done[name].code == code, done[name].err
    assert [part for part in out if part not in done[name].out] == []
    assert [part for part in err if part not in done[name].err] == []


def test_what_was_learned_and_added_is_in_the_files(done: dict[str, Done], folder: Path) -> None:
    files = {
        "new/jsonl": learned(STORED),
        "merged": learned(range(7)),
        "new/written": learned([*range(60), *range(3)]),
    }

    for name, expected in files.items():
        assert_same_counts(read_model(folder / f"{name}.model"), expected)
    assert_same_counts(stored_model(folder / "taught.store"), learned([*range(60), *STORED]))
    assert not (folder / "place.model").exists()


# extract


def reason_of(html: str, trained: Path | None = None) -> str:
    """Why the bundled model, or what is *trained* on top of it, finds no article in *html*."""
    model = load_with_bundled(trained) if trained else bundled_model()
    reason = read_article(html, "", ModelState.of(model)).reason
    assert reason
    return reason


def test_extract_prints_a_json_line_for_each_page(
    done: dict[str, Done], folder: Path, site: Site
) -> None:
    of_list, trained = reason_of(index(1)), reason_of(index(1), folder / "trained.model")
    no_text, path, listed = {"reason": "no_text"}, str(folder / "index.html"), site.url("/index/1")
    missing = {"reason": "not_reachable", "detail": "HTTP status 404"}
    # Of each command line its exit code, and why which of its pages have no article.
    expected: dict[str, tuple[int, dict[str, dict[str, str]]]] = {
        "files": (1, {path: {"reason": trained}}),
        "no articles": (1, {listed: {"reason": trained}}),
        "not found": (3, {site.url("/nowhere"): missing, listed: {"reason": of_list}}),
        "no page": (4, {site.url("/api/1"): {**no_text, "detail": "application/json"}}),
        "pictures": (
            4,
            {
                str(folder / "picture.png"): no_text,
                str(folder / "empty.html"): no_text,
                path: {"reason": of_list},
            },
        ),
    }
    for name, (code, reasons) in expected.items():
        rows = done[name].rows()
        without = {str(row.pop("url")): row for row in done[name].rows() if "reason" in row}
        assert (done[name].code, done[name].err, without) == (code, "", reasons)
        assert all(row.get("text") for row in rows if "reason" not in row)
    article = done["files"].rows()[0]
    assert (article["url"], article["title"]) == (
        str(folder / "page.html"),
        story("plain", 1).title,
    )
    assert all(text in str(article["text"]) for text in PLAIN[1:-1])


def test_extract_answers_again_where_crawls_want_only_what_is_new(folder: Path, site: Site) -> None:
    line = f"{ALONE} -s MSS_ONLY_NEW=1 -s MSS_STORE=@seen extract {site.url('/plain/1')}"

    assert [done.code for done in together(folder, line, line)] == [0, 0]


def test_extract_as_text_prints_reasons_to_standard_error(
    done: dict[str, Done], folder: Path
) -> None:
    outcome = done["no texts"]

    assert (outcome.code, outcome.out) == (1, "")
    of_file, of_address = outcome.err.splitlines()
    reason = reason_of(index(1))
    assert of_file == f"scrapy mss extract: {folder / 'index.html'}: no article: {reason}"
    assert of_address.endswith(f"/index/1: no article: {reason}")


def test_extract_reports_an_unreachable_address_on_one_line(
    done: dict[str, Done],
) -> None:
    as_json, as_text = done["refused"], done["refused as text"]

    (row,) = as_json.rows()
    assert (row["url"], row["reason"]) == (REFUSED, "not_reachable")
    assert "refused" in str(row["detail"])
    (line,) = as_text.err.splitlines()
    assert line.startswith(f"scrapy mss extract: {REFUSED}: not reachable: ")
    assert (as_json.code, as_json.err) == (as_text.code, as_text.out) == (3, "")


def test_extract_fetches_addresses(done: dict[str, Done], site: Site) -> None:
    rows = {row["url"]: row for row in done["urls"].rows()}
    name = with_bundled(learned(range(60))).identifier

    assert set(rows) == {site.url("/plain/1"), site.url("/wrapped/2")}
    for row in rows.values():
        assert row["extractor"] == f"mss:{name}"
        assert 0 < float(str(row["confidence"])) <= 1
    assert story("wrapped", 2).paragraphs[2] in str(rows[site.url("/wrapped/2")]["text"])


@pytest.mark.parametrize("line", ["set", "bundled"])
def test_files_and_addresses_are_read_with_the_same_model(done: dict[str, Done], line: str) -> None:
    models = {"set": with_bundled(learned(range(60))), "bundled": bundled_model()}
    names = [row["extractor"] for row in done[line].rows()]

    assert names == [f"mss:{models[line].identifier}"] * 2


def test_without_a_setting_the_model_is_that_of_crawls_in_this_folder(
    folder: Path, tmp_path: Path, site: Site, trained_once: Model
) -> None:
    store = tmp_path / ".scrapy" / "mss"
    store_model(store, trained_once)

    (outcome,) = run(
        folder, {0: f"{ALONE} extract @page.html {site.url('/plain/1')}"}, tmp_path
    ).values()

    name = with_bundled(learned(range(60))).identifier
    assert [row["extractor"] for row in outcome.rows()] == [f"mss:{name}"] * 2
    assert_same_counts(stored_model(store), trained_once)
    assert [path.name for path in store.iterdir()] == [FILE]


def printing_to(
    stdout: int, folder: Path, line: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "scrapy", "mss", *command(folder, line)],
        cwd=folder / "cwd",
        env={**environment(), **variables},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.parametrize(
    ("line", "unbuffered"), [("info @one.model", ""), (f"{ALONE} extract {REFUSED}", "1")]
)
def test_a_closed_pipe_ends_a_command_quietly(folder: Path, line: str, unbuffered: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)

    done = printing_to(writing, folder, line, PYTHONUNBUFFERED=unbuffered)
    os.close(writing)

    assert (done.returncode, done.stderr) == (141, "")


def test_a_full_disk_is_an_error_of_one_line(folder: Path) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123 - no file
        done = printing_to(full.fileno(), folder, f"{ALONE} extract {REFUSED}")

    assert done.returncode == 2
    assert done.stderr == "scrapy mss extract: error: [Errno 28] No space left on device\n"


# train, merge, info


def test_train_learns_a_page_once_and_says_so(folder: Path) -> None:
    line = "train @sound.jsonl @sound.jsonl -w @rules.yaml -m @again.model"
    first, second, third = together(folder, *[line] * 3)

    assert (first.code, second.code, third.code) == (0, 0, 0)
    assert f"learned {N_STORED} pages, {N_STORED} in total" in first.out
    assert f"{N_STORED} pages not learned: already_learned" in first.out
    for again in (second, third):
        assert f"learned 0 pages, {N_STORED} in total" in again.out
        assert f"{2 * N_STORED} pages not learned: already_learned" in again.out
    assert_same_counts(read_model(folder / "again.model"), learned(STORED))


def test_merge_says_which_pages_count_twice(folder: Path) -> None:
    for name, numbers in (("a", (1, 2, 3)), ("b", (3, 4))):
        model = learned(numbers)
        for number in numbers:
            model.learned_pages.add(number, 0)
        write_model(folder / f"{name}.model", model)

    merged, info = together(folder, "merge @a.model @b.model -o @both.model", "info @both.model")

    assert merged.code == info.code == 0
    assert "5 pages from 2 models\n  1 pages count more than once" in merged.out
    assert "4 pages that are not learned again" in info.out


def test_merge_rejects_models_that_contain_the_bundled_counts_twice(folder: Path) -> None:
    for name in ("one", "two"):
        write_model(folder / f"{name}.complete", with_bundled(learned(range(2))))
    write_model(folder / "counts.model", learned(range(2, 5)))

    both, behind, first = together(
        folder,
        "merge @one.complete @two.complete -o @sum.model",
        "merge @counts.model @one.complete -o @sum.model",
        "merge @one.complete @counts.model -o @sum.model",
    )

    assert both.code == behind.code == 2
    assert f"{folder / 'two.complete'}: only one model may have a block classifier" in both.err
    assert first.code == 0
    assert_same_counts(read_model(folder / "sum.model").learned, learned(range(5)))


def test_info_prints_what_is_in_each_model(
    done: dict[str, Done], folder: Path, trained_once: Model
) -> None:
    outside, inside = trained_once.bayes.tokens.tolist()

    out = done["info"].out

    assert done["info"].code == 0
    assert out.count("profile ") == 3
    assert str(folder / "trained.model") in out
    assert str(folder / "trained.store") in out
    assert out.count("pages        60\n") == 2
    assert out.count(f"{inside:,} inside articles, {outside:,} outside") == 2
    assert f"{(folder / 'trained.model').stat().st_size:,} bytes" in out
    assert out.count(f"in items     mss:{with_bundled(trained_once).identifier}") == 2


# check


def test_commands_leave_nothing_behind_where_they_run(done: dict[str, Done], folder: Path) -> None:
    assert all(outcome.code in range(5) for outcome in done.values())
    assert list((folder / "cwd").iterdir()) == []


# Help, and arguments that cannot be used

WRONG = {
    "": "ACTION",
    "nonsense": "'nonsense'",
    "extract": "URL|FILE",
    "extract @no-such.html": "no-such.html: no such file; a URL begins with http",
    "extract @": "the page cannot be read: Is a directory",
    "extract @page.html -m @damaged.model": "damaged.model",
    "extract @page.html -m @one.model --bundled": "not allowed with",
    "-s MSS_STORE=@one.model extract @page.html": "one.model: expected a folder",
    f"-s MSS_TIMEOUT=x extract {REFUSED}": "MSS_TIMEOUT: expected a number of seconds, got 'x'",
    "extract http:///news": "it has no host",
    "train @sound.jsonl -w @rules.yaml -m /dev/zero": "got a device",
    "train @sound.jsonl -w @pipe.yaml -m @any.model": "got a named pipe",
    "train /dev/zero -w @rules.yaml -m @any.model": "regular file",
    "extract @page.html -f xml": "'xml'",
    "train @cut.jsonl.gz -w @rules.yaml -m @any.model": "cut.jsonl.gz",
    "train @pages.jsonl -w @faulty.yaml -m @any.model": "faulty.yaml",
    "train @sound.jsonl -w @outdated.yaml -m @any.model": f"{N_STORED} no_match",
    "train @sound.jsonl -w @rules.yaml -m @page.html/any.model": "any.model",
    "merge @one.model": "--output",
    "merge @one.model @paper.model -o @any.model": "paper.model",
    "merge @one.model -o @page.html/any.model": "any.model",
    "info @page.html": "page.html",
    "merge @one.model @full.model -o @any.model": "exceed",
    "train @sound.jsonl -w @rules.yaml -m @full.model": "exceed",
    "report": f"{FILE}: nothing was counted in the last weeks; crawl first",
    "report -s @one.model": "one.model: expected a folder",
    "report -s @foreign.store": f"{FILE}: file is not a database. Remove the file",
    "report --pages @pages.txt": "expected a file name that ends in .jsonl",
    "suggest @no-such.jsonl": "no-such.jsonl: no such file or folder",
    "suggest @sound.jsonl -o @page.html/rule.yaml": "rule.yaml: cannot be written: File exists",
    f"-s RETRY_ENABLED=0 explain {REFUSED}": f"{REFUSED}: no page: ",
    "explain @no-such.html": "no-such.html: the page cannot be read: No such file",
    "explain @page.html -o @page.html/why.html": "why.html: cannot be written: File exists",
    "explain @page.html -w @sound.yaml": "give it with -u",
    "check @rules.yaml": "none of the wrappers has a test page",
}
HELP = {f"{name} --help": name for name in ACTIONS}


@pytest.fixture(scope="module")
def answered(folder: Path) -> dict[str, Done]:
    return run(folder, {line: line for line in (*WRONG, *HELP)})


@pytest.mark.parametrize("line", WRONG)
def test_invalid_arguments_are_errors_of_one_line(answered: dict[str, Done], line: str) -> None:
    outcome = answered[line]

    assert outcome.code == 2
    assert outcome.out == ""
    (error,) = outcome.err.splitlines()
    assert error.startswith("scrapy mss")
    assert ": error: " in error
    assert WRONG[line] in error


def test_a_fault_writes_no_model(answered: dict[str, Done], folder: Path) -> None:
    assert not (folder / "any.model").exists()


@pytest.mark.parametrize("line", HELP)
def test_help_has_an_example_and_the_exit_codes(answered: dict[str, Done], line: str) -> None:
    outcome = answered[line]

    assert outcome.code == 0
    assert f"Example: {import_module(f'scrapy_mss.commands.{HELP[line]}').EXAMPLE}" in outcome.out
    assert "Exit codes: " in outcome.out
    assert outcome.out.startswith(f"usage: scrapy mss {HELP[line]} ")


def test_a_page_is_explained(folder: Path, site: Site, tmp_path: Path) -> None:
    stored, fetched = tmp_path / "stored.html", tmp_path / "fetched.html"

    of_file, of_url = together(
        folder,
        f"explain @page.html -u http://127.0.0.1/1 -o {stored}",
        f"explain {site.url('/plain/1')} --output {fetched}",
    )

    assert (of_file.code, of_url.code) == (0, 0)
    assert of_file.out.startswith(f"{stored}: an article, probability ")
    first = story("plain", 1).paragraphs[0]
    for page in (stored, fetched):
        assert first in page.read_text("utf-8")
        assert "<script" not in page.read_text("utf-8")


def test_an_explanation_says_whether_the_rule_matched(folder: Path, tmp_path: Path) -> None:
    for name, selector in (("whole", "#content"), ("gone", ".gone")):
        rule = f"site: 127.0.0.1\nbody: '{selector}'\ntitle: h2\n"
        (tmp_path / f"{name}.yaml").write_text(rule)
    line = f"explain @page.html -o {tmp_path}/"

    used, missed, other = together(
        folder,
        f"{line}used.html -u http://127.0.0.1/1 -w {tmp_path}/whole.yaml",
        f"{line}missed.html -u http://127.0.0.1/1 -w {tmp_path}/gone.yaml",
        f"{line}other.html -u http://other.example/1 -w {tmp_path}/whole.yaml",
    )

    assert used.out.endswith(
        "\nkind article: the rule of its site: 127.0.0.1\nby the rule 127.0.0.1\n"
    )
    assert missed.out.endswith("classifier takes it\nthe rule 127.0.0.1 does not match the page\n")
    assert other.out.endswith("classifier takes it\nnone of the rules is for this address\n")
    selected = [
        "<td>wrapper</td>" in (tmp_path / f"{name}.html").read_text("utf-8")
        for name in ("used", "missed", "other")
    ]
    assert selected == [True, False, False]
