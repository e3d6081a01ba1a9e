"""Memory over a long crawl."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.plugin.crawling import crawl, fetching
from tests.plugin.site import RULES, Site

pytestmark = [
    pytest.mark.any_scrapy("its crawl calls what shorter ones call; what might grow is ours"),
    pytest.mark.slow("a crawl of thousands of pages"),
]

N_PAGES = 2_500
WINDOW = 200  # items; the least of a window leaves out a checkpoint that is being written
MEGABYTE = 2**20


def test_memory_is_flat_over_thousands_of_pages(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every other page is learned, the rest is extracted by the model; no two are the same.

    Checkpoints are as frequent as in a crawl of ten times as many pages. What one has read and
    freed goes back to the system at once: glibc otherwise keeps tables of this size now and then,
    and 17 MB that nobody holds come and go.
    """
    monkeypatch.setenv("MALLOC_MMAP_THRESHOLD_", str(MEGABYTE))
    wrapped = site.urls("small", range(0, N_PAGES, 2))
    plain = site.urls("small", range(1, N_PAGES, 2), host="localhost")
    job = fetching(
        [url for pair in zip(wrapped, plain, strict=True) for url in pair],
        MSS_WRAPPERS=RULES[:1],
        EXTENSIONS={"tests.plugin.spiders.MemoryMeter": 1},
        LOG_LEVEL="INFO",
    )

    (done,) = crawl(tmp_path, [replace(job, keep=False, checkpoint_pages=200)])

    measured = dict(done.stats["test/rss"])
    early = min(rss for count, rss in measured.items() if 1_000 - WINDOW < count <= 1_000)
    late = min(rss for count, rss in measured.items() if count > N_PAGES - WINDOW)
    print([f"{count}: {rss / MEGABYTE:.0f}" for count, rss in measured.items() if not count % 500])
    assert done.mss("extract/articles") == N_PAGES
    assert done.mss("train/learned") == done.mss("extract/source/wrapper") == N_PAGES / 2
    assert late <= early * 1.05 + 5 * MEGABYTE
