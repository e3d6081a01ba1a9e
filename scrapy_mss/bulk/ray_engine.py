"""Parts made by Ray Data, on the machines of a cluster or on this one.

A part is a row, which an actor maps to another row, the line of the manifest. Pages and articles
do not pass through Ray's memory: each actor reads and writes files itself, which must have the same
path on all machines. An actor holds one worker, so the limits per page are the same. Ray replaces
lost actors, and their parts are made again.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy_mss.bulk.extracting import ArticleExtractor, CannotStartError
from scrapy_mss.bulk.parts import (
    DonePart,
    EngineError,
    OnProgress,
    Part,
    given_up,
    has_failed_too_often,
    make_part,
)
from scrapy_mss.files.stored_pages import LONGEST_DETAIL

if TYPE_CHECKING:
    import pyarrow as pa

PART, DONE = "part", "done"  # the columns of the two tables, JSON


class PartMaker:
    """An actor of Ray Data that makes parts in *folder*, reading with *settings*."""

    def __init__(self, folder: str, settings: Mapping[str, Any]) -> None:
        self._folder = Path(folder)
        self._extractor = ArticleExtractor(**settings)

    def __call__(self, batch: pa.Table) -> pa.Table:
        """What became of the parts in *batch*."""
        import pyarrow as pa

        parts = (Part.of(json.loads(text)) for text in batch.column(PART).to_pylist())
        return pa.table({DONE: [json.dumps(asdict(self._made(part))) for part in parts]})

    def _made(self, part: Part) -> DonePart:
        detail = "too many actors were lost that read it"
        while not has_failed_too_often(part, self._folder):
            try:
                return make_part(part, self._folder, self._extractor, lambda _pages, _size: None)
            except (OSError, CannotStartError):  # a full disk: no part can be made
                raise
            except Exception as error:  # noqa: BLE001 - whatever is in an archive
                detail = f"{type(error).__name__}: {error}"[:LONGEST_DETAIL]
        return given_up(part, self._folder, detail)


@dataclass(frozen=True)
class RayEngine:
    """An `Engine`: so many actors, one for each core of the cluster unless *actors* are given."""

    settings: Mapping[str, Any]
    actors: int | None = None

    def __call__(
        self, parts: Iterable[Part], folder: Path, report: OnProgress
    ) -> Iterator[DonePart]:
        """Make *parts* in *folder*, as the cluster has room for them."""
        import ray
        import ray.data
        import ray.exceptions

        _connect()
        logging.getLogger("ray.data").setLevel(logging.ERROR)  # the command has a bar of its own
        ray.data.DataContext.get_current().enable_progress_bars = False
        todo = {part.number: part for part in parts}
        rows = [{PART: json.dumps(asdict(part))} for part in todo.values()]
        actors = self.actors or int(ray.cluster_resources().get("CPU", 1))
        arguments = {
            "folder": str(folder.absolute()),
            "settings": {**self.settings, "MSS_WORKERS": 1},
        }
        made = ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
            PartMaker,
            fn_constructor_kwargs=arguments,
            batch_size=1,
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=max(1, min(actors, len(rows)))),
            num_cpus=1,
        )
        try:
            for row in made.iter_rows():
                done = DonePart.of(json.loads(row[DONE]))
                report(done.pages, todo[done.number].weight)
                yield done
        except ray.exceptions.RayError as error:
            why = str(error).strip().rpartition("\n")[2]
            raise EngineError(f"Ray cannot make the parts: {why}") from error


def _connect() -> None:
    """Be with the cluster that RAY_ADDRESS names, else with Ray on this machine alone."""
    import ray

    if not ray.is_initialized():
        own = {} if os.environ.get("RAY_ADDRESS") else {"include_dashboard": False}
        ray.init(log_to_driver=False, logging_level="ERROR", **own)
