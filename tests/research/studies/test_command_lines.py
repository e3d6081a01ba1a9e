"""The command lines of all studies: what is wrong is said in one line, before any work."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

STUDIES = (
    "alarms",
    "article_or_not",
    "confidence",
    "demo_sites",
    "drawn_features",
    "encodings",
    "link_priority",
    "revisions",
    "site_memory",
    "stories",
    "suggested_rules",
    "vips",
    "whole_article",
)


@pytest.mark.parametrize("name", [*STUDIES, "block_classifier decision", "cli penalty"])
def test_folders_that_are_not_there_are_named(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module, *what = name.split()
    main = importlib.import_module(f"research.studies.{module}").main
    data = [] if module == "demo_sites" else ["--data", str(tmp_path)]
    missing = str(tmp_path / "none")

    assert main([*what, *data, "--out", missing]) == 2
    assert capsys.readouterr().err.endswith(f"error: --out: there is no folder {missing}\n")
    if data:
        assert main([*what, "--data", missing, "--out", str(tmp_path)]) == 2
        assert capsys.readouterr().err.endswith(f"error: --data: there is no folder {missing}\n")
        assert main([*what, *data, "--out", str(tmp_path)]) == 2
        assert capsys.readouterr().err.count("\n") == 1  # the sets are missing
