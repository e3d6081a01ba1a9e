"""`python -m research.rendering` on a small set."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from research.rendering.__main__ import main
from research.rendering.browser import chromium


def test_a_folder_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", "/none"]) == 2
    assert capsys.readouterr().err.endswith("error: --data: there is no folder /none\n")


@pytest.mark.skipif(chromium() is None, reason="there is no chromium here")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_became_of_each_page_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("playwright")
    sources = ("<p>one", "<style>p { float: left }</style><p>two", "<b>a</b> " * 25_000)
    records = [
        {"id": str(n), "site": "s.example", "html": html, "text": "one", "golds": ["one"]}
        for n, html in enumerate(sources)
    ]
    lines = "\n".join(map(json.dumps, records))
    (tmp_path / "few.jsonl.xz").write_bytes(lzma.compress(lines.encode()))

    code = main(
        ["--data", str(tmp_path), "--sets", "few", "--drawings", str(tmp_path / "drawings")]
    )

    out = capsys.readouterr().out
    assert code == 0
    assert "| few | 3 | 2 | 1 | 1 | 0 | 1 |" in out
    assert out.endswith("1 not drawn: more than 40000 nodes\n")
