"""What programs rely on that start the bench and read what it wrote: its options and JSON keys.

A name that is changed or taken away here breaks them; what is added does not.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from research.bench import cli
from research.bench.report import PEERS as INSTALLED
from tests.research.bench.fakes import pages, record, write_jsonl

# Option, and whether it must be given, takes a value, may be given again; its default.
OPTIONS: dict[str, tuple[bool, bool, bool, object]] = {
    "--test": (True, True, True, None),
    "--train": (False, True, True, []),
    "--folds": (False, True, False, None),
    "--model": (False, True, False, None),
    "--limit": (False, True, False, None),
    "--systems": (True, True, False, None),
    "--jobs": (False, True, False, 1),
    "--rouge": (False, False, False, False),
    "--resamples": (False, True, False, 2000),
    "--seed": (False, True, False, 0),
    "--json": (False, True, False, None),
    "--markdown": (False, True, False, None),
}
PEERS = set(INSTALLED)  # which of them a run names depends on what is installed
STATISTICS = (
    "p r f1 best_p best_r best_f1 shingle_p shingle_r shingle_f1 cleaneval rouge "
    "position_p position_r position_f1 poor"
)
SET = "name spec sha256 pages sites languages bytes skipped skipped_messages"
KEYS = {
    "": "format date command versions settings systems test_sets train_sets splits results "
    "differences",
    "versions": "python scrapy-mss numpy lxml rapidfuzz rouge-score platform",
    "settings": "folds model model_sha256 limit jobs rouge resamples seed",
    "test_sets": SET,
    "train_sets": SET,
    "splits": "fold set train_pages test_pages",
    "results": "set system pages failures errors metrics speed languages sites rows",
    "results.metrics": STATISTICS,
    "results.metrics.f1": "value low high",
    "results.speed": "pages ms_median ms_mean ms_p95 mb_per_s times_lxml",
    "results.languages": "name pages failures metrics",
    "results.languages.metrics": STATISTICS,
    "results.sites": "name pages failures metrics",
    "results.sites.metrics": STATISTICS,
    "results.rows": "id site lang p r f1 ms words gold_words bytes best_gold best_p best_r "
    "best_f1 shingle_p shingle_r cleaneval rouge position_p position_r position_f1 lxml_ms error",
    "differences": "set system other metrics",
    "differences.metrics": STATISTICS,
    "differences.metrics.f1": "value low high",
}


def options_of_run() -> Iterator[argparse.Action]:
    (commands,) = cli.parser()._subparsers._group_actions  # type: ignore[union-attr]  # noqa: SLF001
    assert isinstance(commands.choices, dict)
    return (each for each in commands.choices["run"]._actions if each.dest != "help")  # noqa: SLF001


def test_run_takes_the_options_that_it_always_took() -> None:
    found = {
        option: (
            each.required,
            each.nargs != 0,
            type(each).__name__ == "_AppendAction",
            each.default,
        )
        for each in options_of_run()
        for option in each.option_strings
    }

    assert found == OPTIONS


def test_a_run_writes_the_keys_that_it_always_wrote(tmp_path: Path) -> None:
    """Of a run in which nothing is missing: two systems, folds, a set to learn from."""
    one = write_jsonl(tmp_path / "one.jsonl", map(record, pages(3)))
    other = write_jsonl(tmp_path / "other.jsonl", map(record, pages(5)))
    arguments = ["--test", f"jsonl:{one}", "--train", f"jsonl:{other}", "--folds", "2"]
    into = ["--json", str(tmp_path / "run.json")]

    code = cli.main(["run", *arguments, "--systems", "simple-mss,all-text", *into])

    document = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    found = {place: set(at(document, place)) for place in KEYS}
    found["versions"] -= PEERS
    assert code == 0
    assert found == {place: set(keys.split()) for place, keys in KEYS.items()}


def at(document: object, place: str) -> dict[str, object]:
    """The object that is at *place*; of a list the first."""
    for key in filter(None, place.split(".")):
        assert isinstance(document, dict)
        inner = document[key]
        document = inner[0] if isinstance(inner, list) else inner
    assert isinstance(document, dict)
    return document
