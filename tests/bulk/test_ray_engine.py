"""The same archives by Ray, which is started on this machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

pytest.importorskip("fastwarc")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ray = pytest.importorskip("ray", reason="ray is not installed: make test-engines")

from scrapy_mss.bulk.extracting import ArticleExtractor  # noqa: E402 - not without these
from scrapy_mss.bulk.parts import DonePart, OnProgress  # noqa: E402
from scrapy_mss.bulk.ray_engine import RayEngine  # noqa: E402
from scrapy_mss.bulk.run import Bulk  # noqa: E402
from scrapy_mss.bulk.worker_groups import WorkerGroups  # noqa: E402
from scrapy_mss.files.stored_pages import StoredPage  # noqa: E402
from tests.helpers.archives import json_lines, warc_members  # noqa: E402
from tests.plugin.site import plain  # noqa: E402

pytestmark = [  # Ray has many of its own; those of our calls are errors
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.filterwarnings("error::ray.util.annotations.RayDeprecationWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


def pages(first: int, count: int) -> list[StoredPage]:
    return [StoredPage(f"https://news.example/{n}", plain(n)) for n in range(first, first + count)]


@pytest.fixture
def bulk(tmp_path: Path) -> Bulk:
    (tmp_path / "a.warc.gz").write_bytes(b"".join(warc_members(pages(0, 40))))
    (tmp_path / "b.jsonl").write_bytes(json_lines(pages(100, 10)))
    return Bulk([str(tmp_path / "*")], tmp_path / "ray", {}, 20_000)


def silent(_total: int, _done: int) -> OnProgress:
    return lambda _pages, _size: None


def rows_in(folder: Path) -> list[dict[str, Any]]:
    rows = [row for path in folder.glob("*.parquet") for row in pq.read_table(path).to_pylist()]
    return sorted(rows, key=lambda row: str(row["url"]))


def test_ray_makes_the_same_rows_as_processes(bulk: Bulk, tmp_path: Path) -> None:
    bulk.run(RayEngine({}), silent)
    Bulk(bulk.inputs, tmp_path / "plain", {}, bulk.piece).run(WorkerGroups({}, 1), silent)

    rows = rows_in(bulk.folder)
    assert len(rows) == 50
    assert rows == rows_in(tmp_path / "plain")


def test_an_actor_that_is_killed_is_replaced(bulk: Bulk) -> None:
    killed: list[int] = []

    class Killing(RayEngine):
        def __call__(self, *arguments: Any) -> Iterator[DonePart]:
            for done in super().__call__(*arguments):
                for process in psutil.process_iter(["cmdline"]) if not killed else ():
                    if "MapBatches(PartMaker)" in " ".join(process.info["cmdline"] or []):
                        process.kill()
                        killed.append(process.pid)
                        break
                yield done

    bulk.run(Killing({}, 1), silent)

    assert killed
    urls = Counter(row["url"] for row in rows_in(bulk.folder))
    assert urls == Counter(page.url for page in [*pages(0, 40), *pages(100, 10)])


def test_the_extractor_is_an_actor_of_pipelines_of_your_own() -> None:
    batch = [{"id": n, "url": page.url, "html": page.html} for n, page in enumerate(pages(0, 20))]
    data = ray.data.from_items(batch).map_batches(
        ArticleExtractor,
        fn_constructor_kwargs={"MSS_FIELDS": ["markdown"]},
        compute=ray.data.ActorPoolStrategy(size=1),
        batch_format="pyarrow",
        batch_size=8,
    )

    rows = sorted(data.take_all(), key=lambda row: int(row["id"]))

    assert [row["url"] for row in rows] == [row["url"] for row in batch]
    assert all(row["markdown"] for row in rows)
